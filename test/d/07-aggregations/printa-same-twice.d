#pragma D option quiet

BEGIN
{
	@a["x"] = sum(4);
	printa("%s %@d %@x\n", @a, @a);
	exit(0);
}
