/* A value that is computed to be 0 frees like the literal, so that there is room for all. */
#pragma D option quiet
#pragma D option dynvarsize=4k
int a[int], i, zero;
self int t[int];
tick-1ms
/i < 200/
{
	a[i] = i + 1;
	self->t[i] = 5;
	a[i] -= i + 1;
	self->t[i] = zero;
	i++;
}

tick-1ms
/i == 200/
{
	printf("%d %d %d\n", a[0], a[199], self->t[199]);
	exit(0);
}
