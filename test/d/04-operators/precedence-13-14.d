/* || binds tighter than ?:. */
#pragma D option quiet
int x, z;
BEGIN
{
	x = 1;
	z = 0;
	printf("%d %d\n", z || x ? 2 : 3, x ? 7 : z || 5);
	printf("%d %d\n", 0 || 1 ? 2 : 3, 1 ? 7 : 0 || 5);
	exit(0);
}
