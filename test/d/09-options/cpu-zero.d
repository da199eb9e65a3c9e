/* Every probe fires there. */
#pragma D option quiet
#pragma D option cpu=0
BEGIN { printf("%d", cpu); }
tick-1ms { printf("%d", cpu); exit(0); }
END { printf("%d", cpu); }
