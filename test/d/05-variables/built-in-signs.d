/* Signed ones are above -1 when they are small; for unsigned ones -1 is the largest value. */
#pragma D option quiet
BEGIN
{
	printf("%d%d%d%d\n", arg0 > -1, walltimestamp > -1, pid > -1, tid > -1);
	printf("%d%d\n", timestamp > -1, id > -1);
	exit(0);
}
