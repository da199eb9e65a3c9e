#pragma D option quiet

BEGIN
{
	printf("%d %d\n", curlwpsinfo->pr_lwpid == tid, curlwpsinfo->pr_onpro >= 0);
	printf("%d %c %d\n", curlwpsinfo->pr_state == SRUN, curlwpsinfo->pr_sname,
	    curlwpsinfo->pr_flag);
	exit(0);
}
