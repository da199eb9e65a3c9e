BEGIN
{
	printf("%lc", 1L);
}
