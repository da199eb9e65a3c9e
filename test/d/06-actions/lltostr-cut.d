#pragma D option quiet
#pragma D option strsize=4

BEGIN
{
	printf("%s\n", lltostr(123456));
	exit(0);
}
