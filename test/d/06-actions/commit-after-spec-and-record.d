BEGIN
{
	@a = count();
}
BEGIN
{
	speculate(1);
	commit(1);
}
