#pragma D option quiet

#pragma D option strsize=4
BEGIN
{
	printf("%d %d %d\n", strlen("abcdefgh"), strlen("abcd"), strlen("abc"));
	exit(0);
}
