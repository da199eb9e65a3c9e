BEGIN
{
	printf("%hd", 1L);
}
