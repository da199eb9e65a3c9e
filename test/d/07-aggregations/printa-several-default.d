#pragma D option quiet

BEGIN
{
	@a["x"] = avg(7);
	@b["x"] = max(-2);
	@c["y"] = count();
	printa(@a, @b, @c);
	exit(0);
}
