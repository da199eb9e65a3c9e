/* A constant has the first type that holds it; hex and octal may be unsigned. */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d\n", sizeof (1), sizeof (1L), sizeof (1ull));
	printf("%d %d\n", sizeof (2147483647), sizeof (2147483648));
	printf("%d %d\n", sizeof (0x80000000), sizeof (0x100000000));
	printf("%d\n", 0x80000000);
	printf("%d\n", 0xffffffffffffffff);
	exit(0);
}
