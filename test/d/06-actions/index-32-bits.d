#pragma D option quiet

/* Positions are 32 bits, with a sign. */
BEGIN
{
	printf("%d %d\n", index("foofoo", "f", 0x100000001), rindex("foofoo", "f", 0x100000002));
	printf("%d\n", rindex("foofoo", "f", 0xffffffff));
	exit(0);
}
