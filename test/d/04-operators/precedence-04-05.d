/* Addition binds tighter than shifts. */
#pragma D option quiet
int x, y;
BEGIN
{
	x = 64;
	y = 3;
	printf("%d %d\n", x >> y - 1, y << 2 + 1);
	printf("%d %d\n", 64 >> 3 - 1, 1 << 2 + 1);
	exit(0);
}
