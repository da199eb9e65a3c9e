int x;

BEGIN
{
	@ = llquantize(1, x, 0, 2, 10);
}
