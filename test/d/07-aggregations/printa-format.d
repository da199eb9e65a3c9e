#pragma D option quiet

BEGIN
{
	@[1, "one"] = sum(-5);
	@[2, "two"] = sum(7);
	printa("<%@5d> %d\n", @);
	printa("%4d %-5s|%@x\n", @);
	printa("%@d %@d\n", @);
	exit(0);
}
