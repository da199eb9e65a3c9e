#pragma D option quiet

BEGIN
{
	@a["x"] = count();
	@a["x"] = count();
	@b["x"] = sum(50);
	@b["y"] = sum(7);
	printa("%s %@d %@d\n", @a, @b);
	printa(@a, @b);
	exit(0);
}
