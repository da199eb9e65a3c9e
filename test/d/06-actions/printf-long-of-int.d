BEGIN
{
	printf("%ld\n", 5);
}
