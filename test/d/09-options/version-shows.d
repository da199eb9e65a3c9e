#pragma D option quiet

BEGIN
{
	printf("%d %d %d %d\n", OLD, before, NEW, xlate <struct out> (4).v);
	exit(0);
}
