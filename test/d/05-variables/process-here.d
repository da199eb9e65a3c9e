/* in the local tier the process at the probe is erltrace, and its parent is erltrace's */
BEGIN
{
	printf("%s\n", execname);
	printf("%d %d\n", pid == $pid, ppid == $ppid);
	exit(0);
}
