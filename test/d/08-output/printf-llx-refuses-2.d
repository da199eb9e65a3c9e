BEGIN
{
	printf("%llx", (long)1);
}
