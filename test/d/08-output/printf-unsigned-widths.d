#pragma D option quiet

BEGIN
{
	printf("%u %o %x %X\n", (char)-1, (char)-1, (char)-1, (char)-1);
	printf("%u %o %x %X\n", (short)-1, (short)-1, (short)-1, (short)-1);
	printf("%u %o %x %X\n", -1, -1, -1, -1);
	printf("%u %o %x %X\n", -1L, -1L, -1L, -1L);
	exit(0);
}
