BEGIN
{
	x = ntohll();
}
