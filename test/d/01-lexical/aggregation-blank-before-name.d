BEGIN
{
	@ a = count();
}
