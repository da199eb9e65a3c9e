#pragma D option quiet

BEGIN
{
	@["a"] = count();
	trunc(@);
	exit(0);
}
