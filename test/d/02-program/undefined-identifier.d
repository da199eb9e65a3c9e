BEGIN
{
	x = 1 + nosuch;
}
