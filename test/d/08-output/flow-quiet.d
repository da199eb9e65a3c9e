#pragma D option quiet

#pragma D option flowindent
BEGIN
{
	printf("x\n");
}
BEGIN
{
	printf("y\n");
	exit(0);
}
