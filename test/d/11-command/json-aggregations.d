BEGIN
{
	@a["k", 1] = sum(-3);
	@a["j", 2] = sum(4);
	@q = quantize(5);
	@q = quantize(-1);
	@l = lquantize(11, 0, 10, 5);
	@l = lquantize(-1, 0, 10, 5);
	@l = lquantize(7, 0, 10, 5);
	@ = count();
}
BEGIN
{
	exit(0);
}
