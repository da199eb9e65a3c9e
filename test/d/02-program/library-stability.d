#pragma D attributes Evolving/Evolving/Common mine
inline int mine = curpsinfo->pr_pid;

BEGIN
{
	trace(curpsinfo->pr_pid);
	exit(0);
}
