BEGIN
{
	x = timestmp;
}
