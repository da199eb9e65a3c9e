#pragma D option quiet

BEGIN
{
	@ = llquantize(999, 10, 1, 2, 10);
	@ = llquantize(1000, 10, 1, 2, 10);
	exit(0);
}
