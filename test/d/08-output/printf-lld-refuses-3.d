BEGIN
{
	printf("%lld", arg0);
}
