int n, v;
int a[2];

BEGIN
{
	tracemem(a, 8, n);
	exit(0);
}
