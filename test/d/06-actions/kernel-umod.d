BEGIN
{
	umod(arg0);
	exit(0);
}
