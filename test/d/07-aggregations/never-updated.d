#pragma D option quiet

BEGIN
/0/
{
	@a = count();
	@b["x"] = quantize(1);
}
BEGIN
{
	exit(0);
}
