BEGIN
{
	printf("%lld", 1L);
}
