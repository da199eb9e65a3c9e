#pragma D option quiet

BEGIN
{
	@ = sum(100);
	normalize(@, 10);
	printa("%@d\n", @);
}
BEGIN
{
	@ = sum(50);
	printa("%@d\n", @);
	denormalize(@);
	printa("%@d\n", @);
	exit(0);
}
