BEGIN
{
	@a = count();
}
BEGIN
{
	setopt("quiet");
	speculate(1);
}
