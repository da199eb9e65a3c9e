BEGIN
{
	printf("%ld", 1LL);
}
