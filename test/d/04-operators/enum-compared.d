/* An enumerator of the left side's enum may stand on the right without more. */
#pragma D option quiet
enum color { RED = 1, GREEN = 3 } c;
BEGIN
{
	c = GREEN;
	printf("%d%d%d%d\n", c == GREEN, c != RED, c > RED, c <= RED);
	exit(0);
}
