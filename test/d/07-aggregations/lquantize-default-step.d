#pragma D option quiet

BEGIN
{
	@ = lquantize(2, -1, 5);
	@ = lquantize(-1, -1, 5);
	exit(0);
}
