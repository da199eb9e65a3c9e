BEGIN
{
	@a = llquantize(1, 10, -1, 2, 10);
	@b = llquantize(1, 10, 65536, 65536, 10);
}
