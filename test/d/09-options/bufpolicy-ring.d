/* A record of an int takes 24 + 4 bytes, rounded up to 32: four fit, the newest ones. The last of
 * them is that of exit(). */
#pragma D option quiet
#pragma D option bufpolicy=ring
#pragma D option bufsize=128

BEGIN { printf("%d\n", 1); }
BEGIN { printf("%d\n", 2); }
BEGIN { printf("%d\n", 3); }
BEGIN { printf("%d\n", 4); }
BEGIN { printf("%d\n", 5); }
BEGIN { printf("%d\n", 6); }
BEGIN { exit(0); }
