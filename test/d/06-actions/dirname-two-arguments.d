BEGIN
{
	x = dirname("a", "b");
}
