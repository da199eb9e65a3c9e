BEGIN
{
	@[ustack(3)] = count();
	exit(0);
}
