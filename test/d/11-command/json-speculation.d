BEGIN { sid = speculation(); }
BEGIN { speculate(sid); trace(5); }
BEGIN { commit(sid); discard(speculation()); }
BEGIN { exit(0); }
