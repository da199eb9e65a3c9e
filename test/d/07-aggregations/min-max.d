#pragma D option quiet

BEGIN
{
	@lo = min(3);
	@lo = min(-4);
	@lo = min(9);
	@hi = max(-3);
	@hi = max(-8);
	exit(0);
}
