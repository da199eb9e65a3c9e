#pragma D option quiet

BEGIN
{
	@["x"] = count();
	printa(@);
	printa("%s=%@d\n", @);
	exit(0);
}
