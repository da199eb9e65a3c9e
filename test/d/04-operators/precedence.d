#pragma D option quiet

BEGIN
{
	printf("%d %d %d %d\n", 2 + 3 * 4, (2 + 3) * 4, 7 - 2 - 1, 2 * 7 % 4);
	printf("%d %d %d\n", 1 << 2 + 1, 8 >> 1 + 1, 1 | 6 ^ 3 & 2);
	printf("%d %d %d\n", 1 + 1 == 2, 3 & 2 == 2, 1 || 0 && 0);
	exit(0);
}
