BEGIN
{
	x = strleng("a");
}
