#pragma D option quiet

BEGIN
{
	@a["x"] = count();
	printa("%s %@d\n", @a);
	exit(0);
}
END
{
	@a["y"] = count();
}
