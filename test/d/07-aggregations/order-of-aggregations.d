#pragma D option quiet

BEGIN
{
	@second["s"] = count();
	@first = count();
	@second["r"] = count();
	exit(0);
}
