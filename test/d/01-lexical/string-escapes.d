#pragma D option quiet

BEGIN
{
	printf("%s|\n", "a\tb\x41\101\\\"");
	printf("%s|\n", "ab\0cd");
	exit(0);
}
