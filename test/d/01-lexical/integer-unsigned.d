#pragma D option quiet

BEGIN
{
	printf("%d%d %d%d\n", sizeof (1u), -1u < 0, sizeof (4294967295U), -1U < 0);
	printf("%d%d %d%d\n", sizeof (4294967296u), -4294967296u < 0, sizeof (9223372036854775808u), -9223372036854775809u < 0);
	printf("%d%d %d%d\n", sizeof (0x1u), -0x1u < 0, sizeof (01u), -01u < 0);
	exit(0);
}
