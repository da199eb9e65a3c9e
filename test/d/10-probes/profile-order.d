/* Clauses of one firing run in their order, and BEGIN before, END after all. */
#pragma D option quiet
#pragma D option cpu=0
BEGIN { n = 1; }
profile-2ms { n = n * 2; }
profile-2ms { n = n + 3; exit(0); }
profile-2ms { n = 100; }
END { trace(n); }
