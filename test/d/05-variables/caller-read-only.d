BEGIN
{
	caller = 0;
}
