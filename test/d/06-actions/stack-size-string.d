BEGIN
{
	stack("3");
}
