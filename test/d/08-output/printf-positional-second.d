BEGIN
{
	printf("%d %2$d", 1, 2);
}
