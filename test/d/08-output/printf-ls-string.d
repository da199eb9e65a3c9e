BEGIN
{
	printf("%ls", "x");
}
