#pragma D option quiet

BEGIN
{
	printf("%x %x %x\n", '\a\b\f\n\r\t\v', '\"', '\\');
	printf("%x %x %x %x\n", '\1', '\12', '\1011', '\08');
	printf("%x %x %x\n", '\x4', '\x141', '\x00000042');
	printf("%x %x %x %x %x %x\n", '\'', '\?', '\q', '\8', '\x', '\xg');
	exit(0);
}
