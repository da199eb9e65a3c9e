hot:crunch->return { }
lists:/se.*/:entry { }
lists:map:/^ent.*$/ { }
shop:{price,order}:entry { }
lists:(seq|map):entry { }
lists:seq|map:entry { }
lists:seq(X,Y) { }
&Enum.map/2 { }
lists:seq/2 when arg0 { }
tick-1 sec { }
syscall:::/pid == 1/ { exit(0); }
