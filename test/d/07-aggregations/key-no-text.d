#pragma D option strsize=7
#pragma D option quiet

BEGIN
{
	@["\xe9t"] = sum(3);
	@["\033"] = sum(4);
	exit(0);
}
