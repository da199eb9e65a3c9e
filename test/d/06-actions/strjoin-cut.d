#pragma D option strsize=6
#pragma D option quiet

BEGIN
{
	printf("%s %d\n", strjoin("abcd", "efgh"), strlen(strjoin("abcd", "efgh")));
	exit(0);
}
