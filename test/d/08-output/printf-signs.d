#pragma D option quiet

BEGIN
{
	printf("%d %d %d %d\n", (char)-1, (unsigned char)200, (short)-2, (unsigned short)65535);
	printf("%i %i %i %i\n", -1, 4294967295u, -1L, 18446744073709551615ull);
	exit(0);
}
