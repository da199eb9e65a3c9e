BEGIN
{
	@a = lquantize(1, 2147483648, 2147483647);
	@b = lquantize(1, -2147483649, 0);
}
