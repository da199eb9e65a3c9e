BEGIN
{
	printf("%L", 1);
}
