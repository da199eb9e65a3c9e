#pragma D option quiet

BEGIN
{
	@["c"] = sum(3);
	@["a"] = sum(3);
	@["z"] = sum(-1);
	@["m"] = sum(100);
	exit(0);
}
