#pragma D option quiet
int n;
string s;
int a[2];

BEGIN
{
	printf("%d [%s] %d\n", n, s, a[1]);
	s = "kept";
}

tick-1ms
/n < 5/
{
	n++;
	a[1] += n;
}

tick-1ms
/n == 5/
{
	exit(0);
}

END
{
	printf("%d %s %d\n", n, s, a[1]);
}
