#pragma D option quiet

BEGIN
{
	printf("100%%\n");
	printf("%d%%|%%d\n", 5);
	exit(0);
}
