#pragma D option quiet

BEGIN
{
	printf("%d %d %d\n", 10, 010, 0x1F);
	printf("%d %d\n", 2147483647, -2147483648);
	exit(0);
}
