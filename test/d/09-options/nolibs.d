BEGIN
{
	trace(EPERM);
	trace(curpsinfo->pr_pid);
	trace(KILO);
	trace(NULL);
	trace(pid);
}
