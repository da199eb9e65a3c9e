int x;

BEGIN
{
	@a = lquantize(1, 0, x);
	@b = lquantize(1, 0, "ten");
}
