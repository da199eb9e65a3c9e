#pragma D option quiet

BEGIN
{
	printf("%d%d %d%d %d%d\n", sizeof (1l), -1l < 0, sizeof (1L), -1L < 0, sizeof (0x1l), -0x1l < 0);
	printf("%d%d\n", sizeof (0x8000000000000000l), -0x8000000000000001l < 0);
	printf("%d%d %d%d %d%d\n", sizeof (1ul), -1ul < 0, sizeof (1uL), -1uL < 0, sizeof (0x1ul), -0x1ul < 0);
	printf("%d%d %d%d %d%d\n", sizeof (1ll), -1ll < 0, sizeof (1Ll), -1lL < 0, sizeof (0x1ll), -0x1ll < 0);
	printf("%d%d\n", sizeof (0x8000000000000000ll), -0x8000000000000001ll < 0);
	printf("%d%d %d%d\n", sizeof (1ull), -1ULL < 0, sizeof (18446744073709551615ull), -0x1ull < 0);
	exit(0);
}
