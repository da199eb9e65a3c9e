#pragma D option quiet

BEGIN
{
	printf("%d %d\n", strlen("hello"), strlen(""));
	printf("%s|%s|%s\n", strjoin("ab", "cd"), strjoin("", "x"), strjoin("x", ""));
	printf("%s\n", strjoin(strjoin("a", "b"), strjoin("c", "d")));
	exit(0);
}
