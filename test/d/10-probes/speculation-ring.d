/* Committed on the same thread: it stands where it was committed, and takes room there. */
#pragma D option quiet
#pragma D option bufpolicy=ring
BEGIN { s = speculation(); }
BEGIN { speculate(s); trace("speculative "); }
BEGIN { trace("first "); }
BEGIN { commit(s); }
BEGIN { trace("last"); exit(0); }
