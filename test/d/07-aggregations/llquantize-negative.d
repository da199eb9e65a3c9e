#pragma D option quiet

BEGIN
{
	@ = llquantize(-15, 10, 1, 2, 10);
	@ = llquantize(5, 10, 1, 2, 10);
	exit(0);
}
