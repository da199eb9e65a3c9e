#pragma D option strsize=7
#pragma D option quiet

BEGIN
{
	@["\xc3\xa9t"] = sum(3);
	exit(0);
}
