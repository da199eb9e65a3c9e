BEGIN
{
	x = strchr(1, 2);
}
