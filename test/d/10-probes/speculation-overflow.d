#pragma D option quiet


#pragma D option specsize=64

BEGIN { sid = speculation(); }
BEGIN { speculate(sid); printf("%d\n", 1); }
BEGIN { speculate(sid); printf("%d\n", 2); }
BEGIN { speculate(sid); printf("%d\n", 3); }
BEGIN { speculate(sid); printf("%d\n", 4); }
BEGIN { commit(sid); }
BEGIN { exit(0); }
