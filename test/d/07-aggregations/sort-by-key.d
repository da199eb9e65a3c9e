#pragma D option aggsortkey
#pragma D option quiet

BEGIN
{
	@["b"] = sum(1);
	@["c"] = sum(0);
	@["a"] = sum(2);
	exit(0);
}
