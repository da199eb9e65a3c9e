#pragma D option dynvarsize=64k
#pragma D option quiet
int i;

tick-1ms
{
	a[i] = i + 1;
	a[i] = 0;
	i++;
}
tick-1ms
/i == 20/
{
	printf("%d\n", a[19]);
	exit(0);
}
