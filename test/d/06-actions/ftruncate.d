#pragma D option quiet


#pragma D option destructive

BEGIN
{
	freopen("/tmp/erltrace-ftruncate-%d", $pid);
	printf("gone\n");
}
BEGIN
{
	printf("gone, too\n");
	ftruncate();
	printf("kept\n");
	freopen("");
	system("cat /tmp/erltrace-ftruncate-%d; rm /tmp/erltrace-ftruncate-%d", $pid, $pid);
	exit(0);
}
