#pragma D option quiet

BEGIN
{
	printf("%C %C %C %C %C %C %C %C\n", 0, 7, 8, 9, 10, 11, 12, 13);
	printf("%C %C %C %C|%5C|%-5C|\n", 27, 127, 200, ' ', 10, 10);
	exit(0);
}
