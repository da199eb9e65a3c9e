BEGIN
{
	printf("%hu", 1);
}
