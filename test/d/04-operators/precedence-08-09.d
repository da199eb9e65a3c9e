/* & binds tighter than ^. */
#pragma D option quiet
int x, y, z;
BEGIN
{
	x = 5;
	y = 3;
	z = 6;
	printf("%d %d\n", x ^ y & z, 4 & 1 ^ x);
	printf("%d %d\n", 5 ^ 3 & 6, 4 & 1 ^ 5);
	exit(0);
}
