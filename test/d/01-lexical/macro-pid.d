/* $pid is the process that traces; in the local tier that is also the one that is traced. */
#pragma D option quiet

BEGIN
{
	printf("%d %d\n", $pid == pid, $pid > 1);
	exit(0);
}
