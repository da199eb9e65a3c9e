BEGIN
{
	printf("%lx", 1LL);
}
