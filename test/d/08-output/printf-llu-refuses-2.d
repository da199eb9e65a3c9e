BEGIN
{
	printf("%llu", timestamp);
}
