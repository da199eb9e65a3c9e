BEGIN
{
	x = cleanpath();
}
