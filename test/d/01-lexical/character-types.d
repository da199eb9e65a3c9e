/* An int if that holds the value, else a long; bytes are unsigned. */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d %d\n", sizeof ('a'), sizeof ('abcd'), sizeof ('abcde'), sizeof ('\377\0\0\0'));
	printf("%x %x\n", 'abcdefgh', '\377\376');
	printf("%d %d %d\n", '\377', '\200', '"');
	exit(0);
}
