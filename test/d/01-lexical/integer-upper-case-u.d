/* On octal and hexadecimal constants U, unlike u, does not exclude the signed types. */
#pragma D option quiet

BEGIN
{
	printf("%d%d%d%d\n", -0x1U < 0, -01U < 0, -0x1UL < 0, -0x1ULL < 0);
	printf("%d%d%d%d\n", -0x1u < 0, -01u < 0, -1U < 0, -0x80000001U < 0);
	exit(0);
}
