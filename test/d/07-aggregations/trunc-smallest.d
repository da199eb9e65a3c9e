#pragma D option quiet

BEGIN
{
	@["a"] = sum(1);
	@["b"] = sum(2);
	@["c"] = sum(3);
	@["d"] = sum(4);
	trunc(@, -3);
	exit(0);
}
