BEGIN
{
	9p = 1;
}
