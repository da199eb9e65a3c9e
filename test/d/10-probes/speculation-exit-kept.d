#pragma D option quiet


/* What is recorded before speculation is asked for is not speculative; actions of the consumer wait
 * for the commit. */
BEGIN { @a = count(); sid = speculation(); }
BEGIN { speculate(sid); clear(@a); }
BEGIN { printa("%@d\n", @a); }
BEGIN { commit(sid); }
BEGIN { printa("%@d\n", @a); exit(0); }
