/* no process has no name, pid or function; a text that is no process is its own name */
#pragma D option quiet
BEGIN
{
	printf("[%s%s%s] %s %s\n", erlname, erlpid, erlfunc, erlname("a"), erlname("<0.4000000000.0>"));
	@[erlname] = count();
	exit(0);
}
