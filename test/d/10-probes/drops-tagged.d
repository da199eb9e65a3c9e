/* A record of an int takes 32 bytes: of these, four fit. Each of the others is a drop. */
#pragma D option quiet
#pragma D option cpu=0
#pragma D option droptags
#pragma D option bufsize=128
BEGIN { printf("%d ", 1); }
BEGIN { printf("%d ", 2); }
BEGIN { printf("%d ", 3); }
BEGIN { printf("%d ", 4); }
BEGIN { printf("%d ", 5); }

tick-10ms { exit(0); }
