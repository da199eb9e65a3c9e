unsigned int u;
int i;
long l;
#pragma D option quiet

BEGIN
{
	u = 1;
	i = -1;
	l = -1;
	printf("%d %d %d\n", u > i, u > l, i < l + 1);
	exit(0);
}
