/* A table of 4k has room for some keys, but not for those of three hundred ticks; the rest are
 * drops. statusrate puts off the message to the end, aggrate the reading. */
#pragma D option quiet
#pragma D option cpu=0
#pragma D option aggsize=4k
#pragma D option statusrate=1h
#pragma D option aggrate=1h
#pragma D option droptags
int n;
tick-200us { @[n++] = count(); }
tick-200us / n == 300 / { trunc(@); exit(0); }
