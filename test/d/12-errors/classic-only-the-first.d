BEGIN
{
	x = one;
}
BEGIN
{
	x = two;
}
