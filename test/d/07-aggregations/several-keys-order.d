#pragma D option quiet

BEGIN
{
	@[2, "b"] = sum(1);
	@[2, "a"] = sum(1);
	@[1, "z"] = sum(1);
	exit(0);
}
