BEGIN
{
	printf("%s %d %d %d %s %s\n", execname, uid == $uid, gid == $gid, errno, cwd, root);
	printf("%d %d %d\n", progenyof(pid), progenyof(ppid), pid == $pid);
	exit(0);
}
