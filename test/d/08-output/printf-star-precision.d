/* a precision of 0 is ignored */
BEGIN
{
	printf("%.*s|%.*s|\n", 2, "abcdef", 0, "abc");
	exit(0);
}
