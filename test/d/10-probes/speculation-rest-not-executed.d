#pragma D option quiet


/* Id 0, never allocated, out of range, negative or ended: the rest of the clause is not executed. */
int sid, n;

BEGIN { n++; speculate(0); n += 10; }
BEGIN { n++; speculate(1); n += 10; }
BEGIN { n++; speculate(99); n += 10; }
BEGIN { n++; speculate(-1); n += 10; }
BEGIN { sid = speculation(); }
BEGIN { n++; speculate(sid); n += 100; }
BEGIN { discard(sid); }
BEGIN { n++; speculate(sid); n += 10; }
BEGIN { printf("%d\n", n); exit(0); }
