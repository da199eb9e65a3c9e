BEGIN
{
	normalize(5, 1);
}
