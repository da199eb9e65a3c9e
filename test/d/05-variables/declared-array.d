#pragma D option quiet

int a[string, int];

BEGIN
{
	a["k", 300] = 1;
	printf("%d %d\n", a["k", 300], a["k", 44]);
	exit(0);
}
