BEGIN
{
	speculate(1); copyout(alloca(1), 0, 1);
}
