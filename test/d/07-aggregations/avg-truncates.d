#pragma D option quiet

BEGIN
{
	@["a"] = avg(-1);
	@["a"] = avg(-2);
	@["b"] = avg(1);
	@["b"] = avg(2);
	@["c"] = avg(-1);
	@["c"] = avg(0);
	exit(0);
}
