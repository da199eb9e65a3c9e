BEGIN
{
	x = ``main;
}
