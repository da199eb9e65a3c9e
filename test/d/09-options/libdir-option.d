#pragma D option quiet

BEGIN
{
	printf("%d %d %d\n", KILO, LAST, EPERM);
	exit(0);
}
