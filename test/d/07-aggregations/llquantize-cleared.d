#pragma D option quiet

BEGIN
{
	@a = llquantize(7, 10, 0, 2, 10);
	@b = llquantize(7, 10, 1, 2, 10);
	clear(@a);
	clear(@b);
	exit(0);
}
