#pragma D option quiet

/* The first of January 2005 is in the last week of 2004. */
BEGIN
{
	printf("%T\n%Y\n", 1104537600000000000, 1104537600000000000);
	exit(0);
}
