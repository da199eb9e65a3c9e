BEGIN
{
	@ = count;
}
