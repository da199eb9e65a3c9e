BEGIN
{
	a[sym(arg0)] = 1;
}
