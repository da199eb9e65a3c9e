BEGIN
{
	x += 1;
}
