#pragma D option quiet

BEGIN
{
	printf("%d\n", KILO);
	exit(0);
}
