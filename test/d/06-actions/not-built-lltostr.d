BEGIN
{
	trace(lltostr(5));
}
