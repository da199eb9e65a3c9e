BEGIN
{
	printf("%lu", 1u);
}
