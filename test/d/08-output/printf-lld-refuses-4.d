BEGIN
{
	printf("%lld", 1ull);
}
