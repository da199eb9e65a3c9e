BEGIN
{
	printf("a\nb\n");
}
BEGIN
{
	exit(0);
}
