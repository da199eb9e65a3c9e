#pragma D option quiet

/* More steps than the factor: bins of 5; those of half an integer are skipped. */
BEGIN
{
	@ = llquantize(3, 10, 0, 1, 20);
	@ = llquantize(14, 10, 0, 1, 20);
	@ = llquantize(15, 10, 0, 1, 20);
	exit(0);
}
