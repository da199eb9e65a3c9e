BEGIN
{
	printf("%llu", 1LL);
}
