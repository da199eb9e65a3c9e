#pragma D option quiet

BEGIN
{
	@["p"] = sum(5);
	@["p"] = sum(-7);
	@["q"] = sum(0x7fffffff);
	@["q"] = sum(1);
	exit(0);
}
