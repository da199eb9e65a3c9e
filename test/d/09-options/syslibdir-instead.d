/* It replaces the folder of our libraries; the constants are no folder. */
BEGIN
{
	trace(EPERM);
	trace(curpsinfo->pr_pid);
}
