BEGIN
{
	mod(arg0);
	exit(0);
}
