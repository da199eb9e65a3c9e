BEGIN
{
	@a = count();
	@a[1] = count();
	@b[1] = count();
	@b = count();
}
