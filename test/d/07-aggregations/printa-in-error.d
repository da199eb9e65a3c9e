#pragma D option quiet

int z;

BEGIN
{
	@["k"] = count();
	trace(1 / z);
}
ERROR
{
	printa("%s %@d\n", @);
	exit(0);
}
