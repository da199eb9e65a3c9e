#pragma D option quiet

BEGIN
{
	@["a"] = sum(1);
	@["b"] = sum(1);
	@["c"] = sum(1);
	trunc(@, 1);
	exit(0);
}
