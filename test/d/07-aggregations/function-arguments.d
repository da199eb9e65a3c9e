BEGIN
{
	@a = avg();
	@b = min(1, 2);
	@c = quantize(1, 2, 3);
	@d = lquantize(1, 0);
	@e = llquantize(1, 10, 0, 2);
	@f = stddev();
}
