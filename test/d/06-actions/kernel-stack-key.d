BEGIN
{
	@[stack(3)] = count();
	exit(0);
}
