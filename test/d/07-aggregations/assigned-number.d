BEGIN
{
	@a = 5;
}
