#pragma D option quiet

BEGIN
{
	printf("%d %d %d %d\n", curpsinfo->pr_pid == pid, curpsinfo->pr_ppid == ppid,
	    curpsinfo->pr_uid == uid, curpsinfo->pr_gid == gid);
	printf("%d %d\n", curpsinfo->pr_fname == execname, curpsinfo->pr_dmodel == PR_MODEL_LP64);
	printf("%d %d %d\n", curpsinfo->pr_nlwp, curpsinfo->pr_wstat, curpsinfo->pr_zoneid);
	printf("%d\n", sizeof (curpsinfo->pr_pid));
	exit(0);
}
