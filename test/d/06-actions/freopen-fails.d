#pragma D option quiet


#pragma D option destructive

BEGIN
{
	printf("before\n");
	freopen("/nonexistent/file");
	printf("output is unchanged\n");
	exit(0);
}
