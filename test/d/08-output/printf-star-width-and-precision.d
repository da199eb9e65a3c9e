BEGIN
{
	printf("%*.*s|%-*.*s|%0*d|\n", 8, 3, "abcdef", 6, 2, "abcdef", 5, 42);
	exit(0);
}
