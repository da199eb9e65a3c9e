BEGIN
{
	@a = count();
}
BEGIN
{
	clear(@a);
	commit(1);
}
