#pragma D option quiet
#pragma D option droptags
#pragma D option specsize=8

BEGIN { sid = speculation(); }
BEGIN { speculate(sid); printf("%d\n", speculation()); }
BEGIN { exit(0); }
