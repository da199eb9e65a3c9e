BEGIN
{
	clear(5);
}
