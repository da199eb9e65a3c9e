BEGIN
{
	@a = llquantize(1, 65536, 0, 0, 1);
	@b = llquantize(1, 0, 0, 2, 10);
	@c = llquantize(1, -10, 0, 2, 10);
}
