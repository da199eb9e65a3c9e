#pragma D option quiet


int n;

tick-1ms
/n++ < 3/
{
	if (n == 2)
		printf("two\n");
	else
		printf("%d\n", n);
}
tick-1ms
/n > 5/
{
	exit(0);
}
