BEGIN
{
	printf("%lld", 1);
}
