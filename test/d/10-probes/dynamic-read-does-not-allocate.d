#pragma D option quiet
#pragma D option dynvarsize=4k
int n;
int a[int];
int total;
tick-200us { total += a[n++]; }
tick-200us / n == 300 / { a[1] = 5; trace(total + a[1]); exit(0); }
