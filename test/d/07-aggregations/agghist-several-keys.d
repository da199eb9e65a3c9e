#pragma D option quiet
#pragma D option agghist
/* A long string is not cut, and the others stand right under its end. */
BEGIN { @["a", 1] = sum(1); @["a very long name indeed", 2] = sum(3); exit(0); }
