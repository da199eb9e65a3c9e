BEGIN
{
	printf("%d\n", "text");
}
