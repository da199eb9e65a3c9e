BEGIN
{
	trace(~"a");
}
