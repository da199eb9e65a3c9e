/* Libraries come after those that they depend on, whatever they are called. */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d\n", FIRST, SECOND, LAST);
	exit(0);
}
