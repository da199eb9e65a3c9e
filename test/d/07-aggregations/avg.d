#pragma D option quiet

BEGIN
{
	@["a"] = avg(-7);
	@["a"] = avg(0);
	@["b"] = avg(3);
	@["b"] = avg(4);
	exit(0);
}
