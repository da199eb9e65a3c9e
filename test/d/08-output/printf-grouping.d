#pragma D option quiet

/* A comma before every three digits, whatever the locale. */
BEGIN
{
	printf("%'d|%'10d|\n", 1234567, 1234567);
	exit(0);
}
