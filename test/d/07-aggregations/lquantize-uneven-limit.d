#pragma D option quiet

BEGIN
{
	@ = lquantize(92, 0, 100, 30);
	@ = lquantize(89, 0, 100, 30);
	exit(0);
}
