BEGIN
{
	system("%s", 1);
}
