BEGIN
{
	x = speculate(1);
}
