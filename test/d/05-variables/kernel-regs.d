BEGIN
{
	x = regs[0];
	exit(0);
}
