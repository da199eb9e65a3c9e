#pragma D option quiet
int EPERM;
BEGIN
{
	EPERM = 5;
	curpsinfo = 6;
	printf("%d %d\n", EPERM, curpsinfo);
	exit(0);
}
