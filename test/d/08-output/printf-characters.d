#pragma D option quiet

BEGIN
{
	printf("%c%c|%3c|%-3c|\n", 'o', 'k', 'x', 'y');
	printf("%C%C%C\n", 'a', '\n', 27);
	printf("%S\n", "tab\there\x01");
	exit(0);
}
