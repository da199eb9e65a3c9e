BEGIN
{
	trace(copyin(arg0, 8));
}
