BEGIN
{
	@[stack(3)] = count();
	@[stack(9)] = count();
}
