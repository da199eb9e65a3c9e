BEGIN
{
	printf("%llx", 1);
}
