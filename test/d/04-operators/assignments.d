#pragma D option quiet

BEGIN
{
	x = 10;
	x += 5;
	x -= 3;
	x *= 4;
	x /= 3;
	x %= 9;
	printf("%d\n", x);
	x = 6;
	x |= 9;
	x &= 13;
	x ^= 1;
	x <<= 3;
	x >>= 1;
	printf("%d\n", x);
	y = x = 4;
	printf("%d %d\n", x, y);
	exit(0);
}
