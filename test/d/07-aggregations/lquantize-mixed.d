#pragma D option quiet

BEGIN
{
	@ = lquantize(0, 0, 3, 1, -1);
	@ = lquantize(1, 0, 3, 1, 3);
	exit(0);
}
