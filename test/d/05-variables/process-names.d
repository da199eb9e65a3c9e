/* errno is 0 where no system call returns; cwd and root cannot be told */
BEGIN
{
	printf("%d %s %s\n", errno, cwd, root);
	printf("%d %d\n", uid == $uid, gid == $gid);
	printf("%d %d %d\n", sizeof (errno), sizeof (uid), sizeof (ppid));
	exit(0);
}
