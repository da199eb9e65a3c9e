BEGIN
{
	trace(sym(arg0));
}
