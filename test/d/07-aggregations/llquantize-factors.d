#pragma D option quiet

/* The smallest and the largest factor, and the largest magnitude of 2. */
BEGIN
{
	@a = llquantize(5, 2, 0, 62, 2);
	@b = llquantize(70000, 65535, 1, 2, 1);
	@c = llquantize(0x7fffffffffffffff, 2, 61, 62, 2);
	exit(0);
}
