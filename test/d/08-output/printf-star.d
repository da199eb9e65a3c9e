#pragma D option quiet

int n;

BEGIN
{
	n = -6;
	printf("%*d|%*d|%*d|%*s|\n", 4, 1, n, 2, (char)5, 3, -4, "s");
	printf("%.*d|%.*s|%*.*s|%-*.*d|\n", 3, 7, 2, "text", 6, 2, "text", 5, 3, 7);
	printf("%0*d|%0*d|\n", 5, 42, -5, 42);
	exit(0);
}
