BEGIN
{
	@a = quantize(1, "x");
	@b = lquantize(1, 0, 10, 1, "x");
	@c = llquantize(1, 10, 0, 1, 10, "x");
}
