/* Fewer must divide the factor; more must be a multiple of it, and divide its power. */
BEGIN
{
	@a = llquantize(1, 10, 0, 2, 4);
	@b = llquantize(1, 10, 0, 2, 15);
	@c = llquantize(1, 10, 0, 2, 30);
	@d = llquantize(1, 10, 1, 2, 1000);
	@e = llquantize(1, 10, 0, 2, 65536);
}
