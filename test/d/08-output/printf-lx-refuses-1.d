BEGIN
{
	printf("%lx", 1);
}
