BEGIN
{
	@[1] = count(); @[stack()] = count();
}
