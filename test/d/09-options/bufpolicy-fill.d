/* END may be a record of 32 bytes or that of a fault, which takes 48: of 128 bytes 80 are left for
 * the others, which is two records. The third ends the trace, also the rest of its own firing. */
#pragma D option quiet
#pragma D option bufpolicy=fill
#pragma D option bufsize=128

BEGIN { printf("%d\n", 1); }
BEGIN { printf("%d\n", 2); }
BEGIN { printf("%d\n", 3); }
BEGIN { printf("%d\n", 4); }
tick-1ms { printf("tick %d\n", 5); }
END { printf("end %d\n", 6); }
