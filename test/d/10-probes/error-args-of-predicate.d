/* In a predicate there is no action: number 0. arg5 is 0 for a division. */
#pragma D option quiet
int zero;
BEGIN / 1 / zero / { trace("not reached"); }
BEGIN { exit(0); }
ERROR { printf("%d %d %d %d %d %d\n", arg0, arg1, arg2, arg3 > 0, arg4, arg5); }
