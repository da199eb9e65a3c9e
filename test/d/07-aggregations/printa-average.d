#pragma D option quiet

BEGIN
{
	@ = avg(-5);
	@ = avg(-10);
	printa("%@d\n", @);
	printa(@);
	exit(0);
}
