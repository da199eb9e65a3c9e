#pragma D option quiet

BEGIN
{
	@s = stddev(1);
	@s = stddev(5);
	@m = min(-4);
	printa("%@d %@d\n", @s, @m);
	printa("%@8d|%-@8d|%@x\n", @m, @m, @m);
	exit(0);
}
