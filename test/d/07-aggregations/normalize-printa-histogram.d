#pragma D option quiet

BEGIN
{
	@ = quantize(1, 30);
	normalize(@, 10);
	printa("%@d", @);
	exit(0);
}
