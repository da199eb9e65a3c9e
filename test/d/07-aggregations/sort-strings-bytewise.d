#pragma D option quiet

#pragma D option aggsortkey
BEGIN
{
	@["b"] = count();
	@["ab"] = count();
	@["B"] = count();
	@["a"] = count();
	@["\xc3\xa9"] = count();
	printa("%s\n", @);
	exit(0);
}
