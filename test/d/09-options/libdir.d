#pragma D option quiet

BEGIN
{
	printf("%d %d\n", KILO, kilobytes[5000]);
	exit(0);
}
