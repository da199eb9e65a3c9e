#pragma D option quiet

BEGIN
{
	@ = llquantize(10, 10, 1, 2, 10);
	exit(0);
}
