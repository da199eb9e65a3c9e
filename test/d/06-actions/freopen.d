#pragma D option quiet


#pragma D option destructive

BEGIN
{
	printf("first\n");
	freopen("/tmp/erltrace-freopen-%d", $pid);
	printf("into the file\n");
}
BEGIN
{
	system("echo a command too");
	printf("more\n");
	freopen("");
	printf("back; the file holds:\n");
	system("cat /tmp/erltrace-freopen-%d", $pid);
}
BEGIN
{
	freopen("/tmp/erltrace-freopen-%d", $pid);
	printf("appended\n");
	freopen("");
	system("tail -1 /tmp/erltrace-freopen-%d; rm /tmp/erltrace-freopen-%d", $pid, $pid);
	freopen("");
	printf("still here\n");
	exit(0);
}
