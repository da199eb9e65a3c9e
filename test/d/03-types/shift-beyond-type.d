/* The value is shifted in 64 bits and cut when it is used. */
#pragma D option quiet
char c; int i;
BEGIN
{
	c = 0x40;
	i = 1;
	printf("%d %d %d\n", c << 1, (c << 1) > 0, (long)(c << 2));
	printf("%d %d\n", i << 31, (i << 32) > 0);
	c <<= 2;
	printf("%d\n", c);
	i <<= 31;
	i >>= 31;
	printf("%d\n", i);
	exit(0);
}
