#pragma D option quiet

BEGIN
/0/
{
	@b["x"] = sum(1);
}
BEGIN
{
	@a["x"] = sum(5);
	printa("%s %@d %@d\n", @a, @b);
	exit(0);
}
