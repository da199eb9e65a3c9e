#pragma D option quiet

BEGIN
{
	@ = lquantize(7, 0, 10, 2);
	clear(@);
	exit(0);
}
