#pragma D option quiet

BEGIN
{
	@["k"] = count();
	printa("%@d%% of %s\n", @);
	exit(0);
}
