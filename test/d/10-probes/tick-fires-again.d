#pragma D option quiet

int n;

tick-1ms
{
	n++;
}
tick-1ms
/n == 5/
{
	printf("%d\n", n);
	exit(0);
}
