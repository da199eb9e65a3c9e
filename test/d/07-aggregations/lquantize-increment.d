#pragma D option quiet

BEGIN
{
	@ = lquantize(3, 0, 10, 5, 7);
	exit(0);
}
