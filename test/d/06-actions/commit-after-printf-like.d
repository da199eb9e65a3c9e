BEGIN
{
	@a = count();
}
BEGIN
{
	printa(@a);
	commit(1);
}
