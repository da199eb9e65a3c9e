#pragma D option quiet

/* Only names of options in upper case count. */
BEGIN
{
	printf("%d\n", sizeof (string));
	exit(0);
}
