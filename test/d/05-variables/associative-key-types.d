/* Keys are cast to the types of the first use. */
#pragma D option quiet

BEGIN
{
	a[1] = 5;
	printf("%d %d\n", a[(char)1], a[0x100000001]);
	exit(0);
}
