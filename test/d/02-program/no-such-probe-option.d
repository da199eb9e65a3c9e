#pragma D option quiet
dtrace:::NOPE { exit(1); }
BEGIN { printf("ok\n"); exit(0); }
