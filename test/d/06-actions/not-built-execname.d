BEGIN
{
	trace(execname);
}
