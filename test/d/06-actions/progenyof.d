BEGIN
{
	printf("%d %d %d %d %d\n", progenyof(pid), progenyof(ppid), progenyof(1), progenyof(0), progenyof(-1));
	exit(0);
}
