BEGIN
{
	strlen = 1;
}
