/* At most strsize - 1 bytes of the command are run. */
#pragma D option quiet
#pragma D option destructive
#pragma D option strsize=12

BEGIN
{
	system("echo 3456789abc");
	exit(0);
}
