#pragma D option flowindent
BEGIN
{
	printf("x");
	exit(0);
}
