#pragma D option quiet

/* An array of characters is a string to every subroutine. */
char n[8];

BEGIN
{
	n[0] = 'a';
	n[1] = '/';
	n[2] = 'b';
	printf("%d %s %s %s %s %d\n", strlen(n), strjoin(n, n), basename(n), dirname(n), substr(n, 2), index(n, "b"));
	exit(0);
}
