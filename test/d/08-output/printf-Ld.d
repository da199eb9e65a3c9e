BEGIN
{
	printf("%Ld", 1);
}
