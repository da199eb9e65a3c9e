/* Bytes are packed, the first one highest; an unknown escape keeps both of its bytes. */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d\n", 'a', 'ab', '\n');
	printf("%d %d %d\n", '\377', '\x41', '\0');
	printf("%d %d\n", '\'', '\?');
	exit(0);
}
