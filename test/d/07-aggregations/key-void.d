BEGIN
{
	@[(void)1] = count();
	@a[1] = count();
	@a[(void)1] = count();
}
