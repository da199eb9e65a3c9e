BEGIN
{
	printf("%*.*d", 1, "x", 2);
}
