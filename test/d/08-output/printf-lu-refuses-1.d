BEGIN
{
	printf("%lu", 1L);
}
