BEGIN
{
	@a = count();
}
BEGIN
{
	commit(1);
	setopt("quiet");
}
