BEGIN
{
	printf("%d\n", KILO);
}
