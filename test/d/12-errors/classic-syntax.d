BEGIN
{
	trace(1;
}
