/* Its name, and no module or function. */
#pragma D option quiet
#pragma D option cpu=0
profile-1ms { printf("%s:%s:%s:%s %d", probeprov, probemod, probefunc, probename, id); exit(0); }
