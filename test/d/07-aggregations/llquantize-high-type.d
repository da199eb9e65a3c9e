int x;

BEGIN
{
	@ = llquantize(1, 10, 0, x, 10);
}
