#pragma D option quiet

#pragma D option aggsortkey
BEGIN
{
	@[2, "a"] = sum(0);
	@[1, "b"] = sum(0);
	@[1, "a"] = sum(0);
	printa("%d%s ", @);
	exit(0);
}
