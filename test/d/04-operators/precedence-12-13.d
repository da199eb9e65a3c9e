/* ^^ binds tighter than ||. */
#pragma D option quiet
int x, z;
BEGIN
{
	x = 1;
	z = 0;
	printf("%d %d\n", x || x ^^ x, x ^^ z || x);
	printf("%d %d\n", 1 || 1 ^^ 1, 1 ^^ 0 || 1);
	exit(0);
}
