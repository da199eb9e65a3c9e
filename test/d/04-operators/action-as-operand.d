BEGIN
{
	x = 1;
	x ? exit(0) : 1;
}
