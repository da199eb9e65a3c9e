/* where no call ends it has no arguments and took no time that is known */
BEGIN
{
	printf("%d %d %d\n", elapsed, argv == NULL, argv[0] == NULL);
	printf("%d\n", elapsed < 0 ? sizeof (elapsed) : 0);
	exit(0);
}
