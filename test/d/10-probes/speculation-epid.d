/* A committed line has the prefix of the probe that recorded it. */
BEGIN { sid = speculation(); }
BEGIN { speculate(sid); trace("begun"); }
BEGIN { exit(0); }
END { commit(sid); }
