/* | binds tighter than &&. */
#pragma D option quiet
int x, z;
BEGIN
{
	x = 2;
	z = 0;
	printf("%d %d\n", x | z && z, z && 1 | x);
	printf("%d %d\n", 2 | 0 && 0, 0 && 1 | 2);
	exit(0);
}
