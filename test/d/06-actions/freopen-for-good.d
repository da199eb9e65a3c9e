#pragma D option quiet

/* What comes at the end goes there as well: no empty line, no aggregations here. */
#pragma D option destructive

BEGIN
{
	printf("seen\n");
	freopen("/dev/null");
	printf("gone\n");
	@ = count();
	exit(0);
}
