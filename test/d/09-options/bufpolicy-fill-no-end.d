/* Without END clauses nothing is kept: four records of 32 bytes. No message tells of the one that
 * found no room, since ending there is what was asked for. */
#pragma D option quiet
#pragma D option bufpolicy=fill
#pragma D option bufsize=128
int n;

tick-1ms { printf("%d\n", n++); }
