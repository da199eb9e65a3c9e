BEGIN
{
	printf("%d %z", 1, 2);
	printf("%b", 1);
	printf("%n", 1);
	printf("%hs", "x");
}
