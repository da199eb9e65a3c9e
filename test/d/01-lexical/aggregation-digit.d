BEGIN
{
	@9 = count();
}
