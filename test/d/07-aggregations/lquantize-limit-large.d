BEGIN
{
	@a = lquantize(1, 0, 2147483648);
	@b = lquantize(1, 0, 0xffffffffffffffff);
}
