#pragma D option quiet

BEGIN
{
	printf("%d %d\n", $pid > 1, $ppid > 0);
	printf("%d %d %s\n", $target, $uid >= 0, $$target);
	exit(0);
}
