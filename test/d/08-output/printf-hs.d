BEGIN
{
	printf("%hs", "x");
}
