#pragma D option quiet

BEGIN
{
	@ = llquantize(7, 10, 0, 2, 10);
	@ = llquantize(45, 10, 0, 2, 10);
	@ = llquantize(49, 10, 0, 2, 10);
	exit(0);
}
