BEGIN
{
	@[sym(arg0)] = count();
	@[mod(arg0)] = count();
}
