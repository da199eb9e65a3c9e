/* Matching is case sensitive and covers the whole part; a quoted character is only itself. */
begin { exit(0); }
BEG { exit(0); }
EGIN { exit(0); }
B??GIN { exit(0); }
[!B]EGIN { exit(0); }
BEG\* { exit(0); }
[b]EGIN { exit(0); }
