/* && binds tighter than ^^. */
#pragma D option quiet
int x, z;
BEGIN
{
	x = 1;
	z = 0;
	printf("%d %d\n", x ^^ x && z, z && x ^^ x);
	printf("%d %d\n", 1 ^^ 1 && 0, 0 && 1 ^^ 1);
	exit(0);
}
