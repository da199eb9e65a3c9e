#pragma D option strsize=6

BEGIN
{
	x = "abcdefghi";
	printf("%s %d\n", x, sizeof (string));
	exit(0);
}
