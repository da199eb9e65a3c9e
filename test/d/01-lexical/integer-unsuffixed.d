/* Unsuffixed: int, long; with a base other than ten also unsigned int and unsigned long. Each: bytes, and 1 if signed. */
#pragma D option quiet

BEGIN
{
	printf("%d%d %d%d\n", sizeof (2147483647), -2147483647 < 0, sizeof (2147483648), -2147483648 < 0);
	printf("%d%d\n", sizeof (9223372036854775807), -9223372036854775807 < 0);
	printf("%d%d %d%d\n", sizeof (0x7fffffff), -0x7fffffff < 0, sizeof (0x80000000), -0x80000000 < 0);
	printf("%d%d %d%d\n", sizeof (0xffffffff), -0xffffffff < 0, sizeof (0x100000000), -0x100000000 < 0);
	printf("%d%d\n", sizeof (0x8000000000000000), -0x8000000000000001 < 0);
	printf("%d%d %d%d\n", sizeof (017777777777), -017777777777 < 0, sizeof (020000000000), -020000000001 < 0);
	printf("%d%d %d%d\n", sizeof (0777777777777), -0777777777777 < 0, sizeof (01777777777777777777777),
	    -01777777777777777777777 < 0);
	exit(0);
}
