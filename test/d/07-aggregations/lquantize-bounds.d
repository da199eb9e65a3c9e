#pragma D option quiet

/* The ends of 32 bits, of a 16-bit step, and the most levels there can be. */
BEGIN
{
	@a = lquantize(0, -2147483648, -2147483647);
	@b = lquantize(2147483646, 2147483646, 2147483647);
	@c = lquantize(65535, 0, 65535, 65535);
	@d = lquantize(65534, 0, 65535);
	exit(0);
}
