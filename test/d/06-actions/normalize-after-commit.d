BEGIN
{
	@a = count();
}
BEGIN
{
	commit(1);
	normalize(@a, 2);
}
