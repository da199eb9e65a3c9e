BEGIN
{
	printf("%d %d", 1);
	printf("%d", 1, 2);
	printf("x", 1);
	printf("%%", 1);
}
