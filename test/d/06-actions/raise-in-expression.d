BEGIN
{
	x = raise(2);
}
