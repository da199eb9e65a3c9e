/* BEGIN fires on a scheduler's thread, for no process */
BEGIN
{
	printf("%d %s\n", sched > 0, schedtype);
	printf("%d %d %d %d\n", mqlen, reductions, heapsize, oldheapsize);
	exit(0);
}
