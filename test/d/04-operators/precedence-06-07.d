/* Relations bind tighter than equality. */
#pragma D option quiet
int x, y;
BEGIN
{
	x = 3;
	y = 2;
	printf("%d %d\n", x > y == y, x + 2 == y - 2 < x + 2);
	printf("%d %d\n", 3 > 2 == 2, 5 == 0 < 5);
	exit(0);
}
