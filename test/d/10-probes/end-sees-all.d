#pragma D option quiet

BEGIN
{
	s = "set in BEGIN";
	@a["k"] = count();
	exit(0);
}
END
{
	printf("%s\n", s);
	printa("%s %@d\n", @a);
}
