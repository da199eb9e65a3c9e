BEGIN
{
	system("%s");
}
