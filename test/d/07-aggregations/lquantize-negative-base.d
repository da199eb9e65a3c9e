#pragma D option quiet

BEGIN
{
	@ = lquantize(-10, -10, 0, 5);
	@ = lquantize(-6, -10, 0, 5);
	@ = lquantize(-5, -10, 0, 5);
	@ = lquantize(-11, -10, 0, 5);
	exit(0);
}
