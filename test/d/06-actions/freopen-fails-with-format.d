#pragma D option quiet

#pragma D option destructive

BEGIN
{
	freopen("/nonexistent/%d/%s", 7, "x");
	printf("unchanged\n");
	exit(0);
}
