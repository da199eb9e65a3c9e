/* What may not stand in and behind a description: an error each. */
BEGIN; { exit(0); }
BEGIN% { exit(0); }
BE(GIN { exit(0); }
dtrace: : :BEGIN { exit(0); }
=BEGIN { exit(0); }
@x { }
BEGIN /x/ /y/ { }
BEGIN END { trace(nosuch); }
BEGIN { trace(nosuch); } ;
BEGIN { trace(last); }
