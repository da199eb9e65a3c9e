/* Ticks until the ring has gone round many times: the last record is there, and those before it
 * without a gap. */
#pragma D option quiet
#pragma D option bufpolicy=ring
#pragma D option bufsize=160
int n;

tick-1ms { printf("%d\n", n++); }
tick-1ms / n == 50 / { exit(0); }
