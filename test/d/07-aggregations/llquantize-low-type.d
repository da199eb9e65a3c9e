int x;

BEGIN
{
	@ = llquantize(1, 10, x, 2, 10);
}
