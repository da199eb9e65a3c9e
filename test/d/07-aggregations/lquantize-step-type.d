int x;

BEGIN
{
	@a = lquantize(1, 0, 10, x);
	@b = lquantize(1, 0, 10, 0);
	@c = lquantize(1, 0, 10, -1);
}
