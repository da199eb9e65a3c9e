/* in a node the process at the probe is the VM; with --node there is no $target */
BEGIN
{
	printf("%s\n", execname);
	printf("%d %d %d\n", pid == $pid, pid > 1, $target);
	exit(0);
}
