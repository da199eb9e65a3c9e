/* char + char is char: the value is cut when it is recorded. */
#pragma D option quiet

BEGIN
{
	printf("%d\n", (char)100 + (char)100);
	printf("%d\n", (unsigned char)200 + (unsigned char)100);
	exit(0);
}
