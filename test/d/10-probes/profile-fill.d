/* Each CPU has a buffer of its own; with one that is four records of 32 bytes. */
#pragma D option quiet
#pragma D option cpu=0
#pragma D option bufpolicy=fill
#pragma D option bufsize=128
int n;
profile-1ms { printf("%d\n", n++); }
