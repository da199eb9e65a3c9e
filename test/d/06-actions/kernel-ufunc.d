BEGIN
{
	ufunc(arg0);
	exit(0);
}
