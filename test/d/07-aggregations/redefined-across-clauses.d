BEGIN
{
	@ = quantize(1);
}
END
{
	@ = lquantize(1, 0, 10);
}
