BEGIN
{
	@[ustack()] = count();
}
