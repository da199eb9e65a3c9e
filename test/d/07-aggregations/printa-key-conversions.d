#pragma D option quiet

BEGIN
{
	@[-1, (short)-2, 'x', "s"] = sum(-1);
	printa("%x %u %c [%5s] %@d %@x\n", @);
	exit(0);
}
