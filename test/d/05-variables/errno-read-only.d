BEGIN
{
	errno = 1;
}
