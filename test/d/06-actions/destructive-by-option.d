#pragma D option quiet

#pragma D option destructive

BEGIN
{
	system("echo ran");
	exit(0);
}
