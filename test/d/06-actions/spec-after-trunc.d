BEGIN
{
	@a = count();
}
BEGIN
{
	trunc(@a);
	speculate(1);
}
