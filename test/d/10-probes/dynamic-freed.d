/* What is assigned 0 is freed, by a literal or a value, in an array or in a thread: 4k is then
 * enough for any number. */
#pragma D option quiet
#pragma D option dynvarsize=4k
int n;
int zero;
tick-200us { a[n] = 1; self->b[n] = 1; a[n] = 0; self->b[n] = zero; c[n]++; c[n]--; n++; }
tick-200us / n == 300 / { trace("no drop"); exit(0); }
