BEGIN
{
	trace(rand());
}
