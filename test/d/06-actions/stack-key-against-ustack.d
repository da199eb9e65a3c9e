BEGIN
{
	@[stack()] = count(); @[ustack()] = count();
}
