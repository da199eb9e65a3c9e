BEGIN
{
	printf("100%");
	printf("%5");
	printf("%-3.");
	printf("%l");
}
