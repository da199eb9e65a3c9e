/* Integers and enums take each other, cut to what fits. */
#pragma D option quiet
enum e { ONE = 1, BIG = 300 } v;
enum f { TWO = 2 } w;
uint8_t b;
BEGIN
{
	b = BIG;
	v = 77;
	w = v;
	a[(char)1] = 5L;
	printf("%d %d %d %d\n", b, v, w, a[257]);
	v = TWO;
	v = 'x';
	printf("%d\n", v);
	exit(0);
}
