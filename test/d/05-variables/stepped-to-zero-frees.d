#pragma D option quiet
#pragma D option dynvarsize=4k
int i;
tick-1ms
/i < 200/
{
	a[i]++;
	a[i]--;
	b[i]--;
	++b[i];
	i++;
}

tick-1ms
/i == 200/
{
	printf("%d %d\n", a[0], b[199]);
	a[7]++;
	b[7]--;
	printf("%d %d\n", a[7], b[7]);
	exit(0);
}
