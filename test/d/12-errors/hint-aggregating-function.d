BEGIN
{
	@ = quantise(1);
}
