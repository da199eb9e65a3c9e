BEGIN
{
	@ = llquantize(1, 2, 15, 62, 32768);
}
