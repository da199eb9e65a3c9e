/* An aggregation that nothing was given to prints nothing. */
#pragma D option quiet
int never;
BEGIN
/never/
{
	@b["k"] = sum(1);
}

BEGIN
{
	printa("%s %@d\n", @b);
	printf("that was all\n");
	exit(0);
}
