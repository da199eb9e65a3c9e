#pragma D option quiet


int zero;

BEGIN { sid = speculation(); }
BEGIN { speculate(sid); printf("kept\n"); }
BEGIN { speculate(sid); printf("%d\n", 1 / zero); }
BEGIN { commit(sid); }
BEGIN { exit(0); }
