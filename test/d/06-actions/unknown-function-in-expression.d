BEGIN
{
	x = strlne("x");
	y = 1 + nosuch();
}
