BEGIN
{
	usym(arg0);
	exit(0);
}
