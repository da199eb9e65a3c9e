BEGIN
{
	@a["k"] = count();
	printa("%s %@d\n", @a);
	normalize(@a, 10);
	trunc(@a, 1);
	clear(@a);
}
BEGIN
{
	exit(0);
}
