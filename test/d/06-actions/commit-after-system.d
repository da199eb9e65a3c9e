BEGIN
{
	@a = count();
}
BEGIN
{
	system("x");
	commit(1);
}
