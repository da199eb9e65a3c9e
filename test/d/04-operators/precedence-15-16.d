/* Assignment binds tighter than the comma. */
#pragma D option quiet
int x, y;
BEGIN
{
	x = 1, 2;
	y = (1, 2);
	printf("%d %d %d\n", x, y, (x = 7, y + 1));
	printf("%d\n", x);
	exit(0);
}
