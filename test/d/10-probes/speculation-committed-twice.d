#pragma D option quiet


BEGIN { sid = speculation(); }
BEGIN { speculate(sid); printf("once\n"); }
BEGIN { commit(sid); commit(sid); }
BEGIN { discard(sid); }
BEGIN { exit(0); }
