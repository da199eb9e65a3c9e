#pragma D option quiet

BEGIN
{
	@["s"] = sum(1000);
	@["t"] = sum(1999);
	normalize(@, 10);
	printa(@);
	normalize(@, 100);
	printa(@);
	denormalize(@);
	printa(@);
	exit(0);
}
