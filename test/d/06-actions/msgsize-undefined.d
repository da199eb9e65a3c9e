BEGIN
{
	trace(msgsize(0));
}
