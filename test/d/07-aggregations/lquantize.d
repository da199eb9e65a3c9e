#pragma D option quiet

BEGIN
{
	@ = lquantize(-1, 0, 100, 10);
	@ = lquantize(0, 0, 100, 10);
	@ = lquantize(19, 0, 100, 10);
	@ = lquantize(20, 0, 100, 10);
	exit(0);
}
