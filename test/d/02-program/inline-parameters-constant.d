#pragma D option quiet


inline int bit[int n] = 1 << n;

BEGIN
{
	@ = lquantize(5, 0, bit[3], bit[1]);
	printf("%d\n", sizeof (bit[2]));
	clear(@);
	trunc(@);
	exit(0);
}
