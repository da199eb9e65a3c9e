#pragma D option destructive

BEGIN
{
	trace(1);
	system("echo x");
	exit(0);
}
