BEGIN
{
	trace(msgdsize(0));
}
