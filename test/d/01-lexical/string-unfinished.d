BEGIN
{
	trace("never closed