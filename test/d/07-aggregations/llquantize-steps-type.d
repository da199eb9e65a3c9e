int x;

BEGIN
{
	@a = llquantize(1, 10, 0, 2, x);
	@b = llquantize(1, 10, 0, 2, 0);
	@c = llquantize(1, 10, 0, 2, -5);
}
