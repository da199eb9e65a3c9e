BEGIN
{
	@a[1] = count();
	@b = sum(2);
	exit(0);
}
