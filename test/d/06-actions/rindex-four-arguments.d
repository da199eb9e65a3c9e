BEGIN
{
	x = rindex("abc", "b", 1, 2);
}
