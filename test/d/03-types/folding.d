/* Constants are folded in 64 bits; what they are cut to is decided where they are used. */
#pragma D option quiet
int a[3 * 4 - (8 >> 1) - 6];
BEGIN
{
	printf("%d %d %d %d\n", sizeof (a), 7 / 2, -7 / 2, -7 % 3);
	printf("%d %d %d\n", (-8 >> 1) > 0, -8L >> 60, 1 << 40 > 0);
	printf("%d %d %d\n", 0x7fffffff + 1, (0x7fffffff + 1) > 0, (0x7fffffff + 1L));
	printf("%d %d %d %d\n", !5, ~5 & 0xff, 5 && 0, 5 ^^ 5);
	printf("%d %d %d\n", 3 > 2, 2u > -1, -1 < 1L);
	printf("%d %d\n", 1 ? 2 : 3, (1, 2));
	printf("%d\n", (char)300 == 44);
	exit(0);
}
