#pragma D option quiet
unsigned int u;
int i;
BEGIN
{
	u = 0xffffffff;
	printf("%d %d %d\n", u + 1, (u + 1) > u, (uint32_t)(u + 1));
	printf("%d %d\n", u * u == 0xfffffffe00000001, u * u);
	i = 0x7fffffff;
	printf("%d %d %d\n", i + 1, (i + 1) > i, (long)(i + 1));
	printf("%d %d\n", (i * i) / i, (int)(i * 4) / 4);
	exit(0);
}
