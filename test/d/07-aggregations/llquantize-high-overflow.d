BEGIN
{
	@a = llquantize(1, 2, 0, 63, 2);
	@b = llquantize(1, 10, 0, 19, 10);
}
