BEGIN
{
	uaddr(arg0);
	exit(0);
}
