/* 4k cannot hold three hundred keys. statusrate puts off the message to the end. */
#pragma D option quiet
#pragma D option dynvarsize=4k
#pragma D option statusrate=1h
#pragma D option droptags
int n;
tick-200us { n++; a[n] = 1; }
tick-200us / n == 300 / { trace("all"); exit(0); }
