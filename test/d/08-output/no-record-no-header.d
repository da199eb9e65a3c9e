BEGIN
{
	x = 1;
}
BEGIN
{
	@a = count();
}
END
{
	y = x;
}
