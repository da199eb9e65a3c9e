#pragma D option quiet


/* speculate counts for the run of statements that it stands in. */
BEGIN { sid = speculation(); }
BEGIN
{
	if (sid == 1) {
		speculate(sid);
		printf("held\n");
	}
	printf("at once\n");
}
BEGIN { commit(sid); }
BEGIN { exit(0); }
