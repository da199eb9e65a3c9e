/* Equality binds tighter than &. */
#pragma D option quiet
int x, y;
BEGIN
{
	x = 6;
	y = 2;
	printf("%d %d\n", x & y == y, 0 == 1 & x - 6);
	printf("%d %d\n", 6 & 2 == 2, 0 == 1 & 0);
	exit(0);
}
