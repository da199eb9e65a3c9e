/* Aggregations have memory of their own and do not fill the buffer. The tick that finds it full
 * does nothing at all, whatever stands before its record. */
#pragma D option quiet
#pragma D option bufpolicy=fill
#pragma D option bufsize=96
int n;

tick-1ms { @ = count(); printf("%d\n", n++); }
