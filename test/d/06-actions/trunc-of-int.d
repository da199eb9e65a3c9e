BEGIN
{
	trunc(5);
}
