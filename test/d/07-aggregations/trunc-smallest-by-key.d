#pragma D option quiet

BEGIN
{
	@["b"] = sum(1);
	@["a"] = sum(1);
	@["c"] = sum(1);
	trunc(@, -2);
	exit(0);
}
