int64_t m;
int64_t o;
#pragma D option quiet

BEGIN
{
	m = 0x7fffffffffffffff;
	m = -m - 1;
	o = -1;
	printf("%d %d\n", m / o, m % o);
	exit(0);
}
