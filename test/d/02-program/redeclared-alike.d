int x;
int x;
#pragma D option quiet

BEGIN
{
	printf("%d\n", x);
	exit(0);
}
