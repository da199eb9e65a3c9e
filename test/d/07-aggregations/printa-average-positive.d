#pragma D option quiet

BEGIN
{
	@["a"] = avg(5);
	@["a"] = avg(10);
	printa("%s %@d\n", @);
}
BEGIN
{
	normalize(@, 5);
	printa("%s %@d\n", @);
	exit(0);
}
