#pragma D option quiet

BEGIN
{
	printf("%*d|%*d|%-*d|\n", 6, 42, -6, 42, 6, 42);
	printf("%.*s|\n", 2, "text");
	exit(0);
}
