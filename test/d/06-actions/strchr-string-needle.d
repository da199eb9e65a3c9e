BEGIN
{
	x = strchr("a", "b");
}
