BEGIN
{
	trace(regs[-3]);
}
