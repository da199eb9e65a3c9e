BEGIN
{
	@[8, "abc"] = count();
	@[5, "de"] = count();
	printa("[%*s] %@d\n", @);
	exit(0);
}
