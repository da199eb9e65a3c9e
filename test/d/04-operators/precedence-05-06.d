/* Shifts bind tighter than relations. */
#pragma D option quiet
int x;
BEGIN
{
	x = 1;
	printf("%d %d\n", x < x << 1, 4 >> x >= 2);
	printf("%d %d\n", 1 > 1 >> 1, 4 <= 1 << 2);
	exit(0);
}
