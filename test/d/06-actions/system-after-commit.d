BEGIN
{
	@a = count();
}
BEGIN
{
	commit(1);
	system("x");
}
