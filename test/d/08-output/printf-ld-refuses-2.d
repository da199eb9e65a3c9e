BEGIN
{
	printf("%ld", (ulong_t)1);
}
