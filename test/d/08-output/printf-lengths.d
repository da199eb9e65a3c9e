#pragma D option quiet

BEGIN
{
	printf("%hd %hu %ld %lld %lx\n", (short)-1, (unsigned short)-1, -1L, -1LL, 255L);
	exit(0);
}
