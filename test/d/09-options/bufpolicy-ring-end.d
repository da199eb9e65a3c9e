/* What END records overwrites the oldest, too. */
#pragma D option quiet
#pragma D option bufpolicy=ring
#pragma D option bufsize=128

BEGIN { printf("%d\n", 1); }
BEGIN { printf("%d\n", 2); }
BEGIN { printf("%d\n", 3); exit(0); }
END { printf("%d\n", 4); }
END { printf("%d\n", 5); }
