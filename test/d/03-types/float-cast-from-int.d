this double d; BEGIN
{
	x = (double)1;
}
