/* ?: binds tighter than assignment, whose target may not be one. */
#pragma D option quiet
int x, y, z;
BEGIN
{
	z = 0;
	x = z ? 2 : 3;
	y = 10;
	y += 1 ? 2 : 3;
	printf("%d %d\n", x, y);
	printf("%d %d\n", z ? 1 : (x = 5), x);
	exit(0);
}
