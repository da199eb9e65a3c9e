/* There is little room, and reading what is not there takes none of it. */
#pragma D option quiet
#pragma D option dynvarsize=4k
int a[int], total, i;
self int t[string, int];
tick-1ms
/i < 100/
{
	total += a[i] + a[i + 1000] + self->t["k", i] + self->t["l", i] + a[i * 7 + 5000];
	i++;
}

tick-1ms
/i == 100/
{
	a[1] = 1;
	self->t["k", 2] = 2;
	printf("%d %d %d\n", total, a[1], self->t["k", 2]);
	exit(0);
}
