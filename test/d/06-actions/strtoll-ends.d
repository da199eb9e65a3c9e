#pragma D option quiet

BEGIN
{
	printf("%d %d %d\n", strtoll("-9223372036854775808"), strtoll("12abc"), strtoll("0x1f", 16));
	printf("%d %d %d\n", strtoll("-ff", 16), strtoll("12", 3), strtoll("19", 8));
	exit(0);
}
