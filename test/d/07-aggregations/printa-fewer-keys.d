#pragma D option quiet

BEGIN
{
	@[1, 2, 3] = count();
	printa("%d %d\n", @);
	printa("%@d\n", @);
	printa("just text\n", @);
	exit(0);
}
