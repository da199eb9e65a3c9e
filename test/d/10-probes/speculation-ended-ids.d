#pragma D option quiet


/* commit and discard of 0 or of what is not active do nothing, and the clause goes on. */
int n;

BEGIN { commit(0); n++; }
BEGIN { discard(0); n++; }
BEGIN { commit(1); n++; }
BEGIN { discard(1); n++; }
BEGIN { printf("%d\n", n); exit(0); }
