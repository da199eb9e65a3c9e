/* Names that are no terms are as ever. */
BEGIN
{
	printf("%s %d\n", probename, pid > 0);
	exit(0);
}
