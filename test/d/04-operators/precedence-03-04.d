/* Multiplication binds tighter than addition. */
#pragma D option quiet
int x, y, z;
BEGIN
{
	x = 20;
	y = 6;
	z = 4;
	printf("%d %d %d\n", x + y * z, x - y / z, x + y % z);
	printf("%d %d %d\n", 2 + 3 * 4, 20 - 6 / 3, 7 + 9 % 4);
	exit(0);
}
