/* A shift has the type of its left operand; its count is taken modulo 64. */
#pragma D option quiet
char c; int i; unsigned int u; long l, n;
BEGIN
{
	c = 1;
	i = -16;
	u = 0x80000000;
	l = -1;
	n = 4;
	printf("%d %d %d\n", sizeof (c << n), sizeof (i >> l), sizeof (1 << 1L));
	printf("%d %d %d\n", i >> 2, u >> 31, l >> 63);
	printf("%d %d\n", (unsigned long)l >> 63, (unsigned)i >> 28);
	n = 64;
	printf("%d %d\n", i << n, i >> n);
	n = 68;
	printf("%d %d\n", c << n, l << n);
	n = -1;
	printf("%d %d\n", l << n == 1 << 63, l >> n);
	exit(0);
}
