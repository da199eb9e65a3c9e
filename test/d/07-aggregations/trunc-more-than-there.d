#pragma D option quiet

BEGIN
{
	@["a"] = sum(1);
	@["b"] = sum(2);
	trunc(@, 5);
	trunc(@, -5);
	exit(0);
}
