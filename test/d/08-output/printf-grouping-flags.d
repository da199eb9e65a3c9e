#pragma D option quiet

BEGIN
{
	printf("%+'d|%' d|%+'u|%' i|%-'8d|%'08d|%'.5d|\n", 1234, 1234, 1234, (unsigned short)1234, 1234, 1234, 12);
	printf("%'d|%'d|%'d|%'d|%'u\n", 0, 999, 1000, -1000, (char)-1);
	printf("%'d\n%'d\n", 0x7fffffffffffffff, -0x7fffffffffffffff - 1);
	exit(0);
}
