BEGIN
{
	printf("%llld", 1LL);
}
