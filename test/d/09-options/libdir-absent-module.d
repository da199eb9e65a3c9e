/* Libraries for what is not there are left out without a word, and so are those that need them. */
#pragma D option quiet

BEGIN
{
	printf("%d\n", THERE);
	exit(0);
}
