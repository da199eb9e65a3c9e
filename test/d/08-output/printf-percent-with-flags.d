BEGIN
{
	printf("%5%");
	printf("%-%");
}
