BEGIN
{
	@a[1] = count();
	@b[1] = count();
	printa("%@d", 5);
	printa(@a, 5);
	printa(@a, "%@d");
}
