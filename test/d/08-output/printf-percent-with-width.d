BEGIN
{
	printf("%5%");
}
