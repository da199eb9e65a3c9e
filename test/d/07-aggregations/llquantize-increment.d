#pragma D option quiet

BEGIN
{
	@ = llquantize(5, 10, 0, 1, 10, 7);
	@ = llquantize(5, 10, 0, 1, 10, -2);
	@ = llquantize(6, 10, 0, 1, 10, -5);
	exit(0);
}
