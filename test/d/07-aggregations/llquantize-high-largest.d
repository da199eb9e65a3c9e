#pragma D option quiet

BEGIN
{
	@ = llquantize(1, 10, 0, 18, 10);
	@b = llquantize(1, 2, 0, 62, 2);
	clear(@);
	trunc(@);
	trunc(@b);
	exit(0);
}
