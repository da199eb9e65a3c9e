#pragma D option quiet

BEGIN
{
	printf("%S|%10S|%-10S|%.3S|\n", "a\tb\x7f\xff~", "a\n", "a\n", "abcd");
	exit(0);
}
