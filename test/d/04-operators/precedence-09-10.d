/* ^ binds tighter than |. */
#pragma D option quiet
int x, y;
BEGIN
{
	x = 1;
	y = 3;
	printf("%d %d\n", x | y ^ x, y ^ x | x);
	printf("%d %d\n", 1 | 3 ^ 1, 3 ^ 1 | 1);
	exit(0);
}
