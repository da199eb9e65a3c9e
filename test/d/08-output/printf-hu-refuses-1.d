BEGIN
{
	printf("%hu", (short)1);
}
