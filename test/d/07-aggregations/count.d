#pragma D option quiet

BEGIN
{
	@ = count();
	@ = count();
	@a["x"] = count();
	@a["y"] = count();
	@a["y"] = count();
	exit(0);
}
