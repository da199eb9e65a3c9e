BEGIN
{
	sym(arg0);
	exit(0);
}
