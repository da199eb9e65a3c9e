#pragma D option quiet

#pragma D option strsize=8
BEGIN
{
	@["a\tb\a\b"] = count();
	@["a\x01"] = count();
	@["\x7f"] = count();
	exit(0);
}
