#pragma D option quiet

BEGIN
{
	@a["x"] = count();
	@b["x"] = quantize(1);
	printa("%s %@d%@d\n", @a, @b);
	exit(0);
}
