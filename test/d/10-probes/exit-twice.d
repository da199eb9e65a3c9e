/* The last one counts. */
#pragma D option quiet
BEGIN { exit(1); exit(2); }
