#pragma D option quiet

BEGIN
{
	@["a"] = sum(5);
}
BEGIN
{
	printa("%s %@d\n", @);
	clear(@);
	printa("%s %@d\n", @);
	trunc(@);
	printa("%s %@d\n", @);
	printf("end\n");
	exit(0);
}
