#pragma D option quiet

BEGIN
{
	@ = lquantize(0, 0, 2, 1, -1);
	@ = lquantize(1, 0, 2, 1, -2);
	exit(0);
}
