#pragma D option quiet

BEGIN
{
	printf("%x %x %x %x\n", (char)-1, (short)-1, -1, -1L);
	printf("%d %u\n", (unsigned char)-1, (char)-1);
	exit(0);
}
