BEGIN
{
	raise(2);
}
