BEGIN
{
	@a`b = count();
}
