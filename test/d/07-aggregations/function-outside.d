BEGIN
{
	x = count();
	quantize(5);
}
