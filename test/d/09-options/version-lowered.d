#pragma D option quiet
#pragma D option version=1.0

BEGIN
{
	index = 1;
	printf("%d\n", index);
	exit(0);
}
