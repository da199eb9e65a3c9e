BEGIN
{
	@a[1, uaddr(arg1)] = count();
	exit(0);
}
