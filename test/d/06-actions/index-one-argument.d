BEGIN
{
	x = index("abc");
}
