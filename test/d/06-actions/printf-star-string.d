BEGIN
{
	printf("%*d\n", "a", 1);
}
