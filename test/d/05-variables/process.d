#pragma D option quiet

BEGIN
{
	printf("%d %d %d %d\n", pid > 1, tid > 0, cpu >= 0, vtimestamp >= 0);
	exit(0);
}
