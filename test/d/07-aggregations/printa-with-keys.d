BEGIN
{
	@a[1] = count();
	printa(@a[1]);
	clear(@a[1]);
}
