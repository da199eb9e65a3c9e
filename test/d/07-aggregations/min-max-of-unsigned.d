#pragma D option quiet

/* min and max are signed whatever they are given. */
BEGIN
{
	@lo = min(0xffffffffffffffff);
	@lo = min(1);
	@hi = max(0xffffffffffffffff);
	@hi = max(1);
	exit(0);
}
