BEGIN
{
	@a = count();
}
BEGIN
{
	commit(1);
	tracemem(0, 4);
}
