BEGIN
{
	trace(curpsinfo->pr_addr);
}
