#pragma D option strsize=4
#pragma D option quiet

BEGIN
{
	s = "abcdefgh";
	printf("%s %d\n", s, strlen(s));
	exit(0);
}
