#pragma D option quiet

BEGIN
{
	@ = lquantize(99, 0, 100, 10);
	@ = lquantize(100, 0, 100, 10);
	@ = lquantize(1000, 0, 100, 10);
	exit(0);
}
