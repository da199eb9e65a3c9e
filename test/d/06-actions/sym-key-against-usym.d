BEGIN
{
	@[sym(arg0)] = count(); @[usym(arg0)] = count();
}
