BEGIN
{
	printf("%*d", 1);
	printf("%*d");
	printf("%.*s", "a", "b");
	printf("%*.*d", 1);
}
