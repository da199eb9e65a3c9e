BEGIN
{
	printf(nosuch);
}
