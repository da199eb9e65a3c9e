/* Unary operators bind tighter than multiplication. */
#pragma D option quiet
int x, *p, a[2];
BEGIN
{
	x = 0;
	a[0] = 6;
	p = a;
	printf("%d %d %d\n", !x * 5, ~1 * 2, -7 % 4);
	printf("%d %d %d\n", *p * 2, sizeof x * 2, (char)200 / 2);
	exit(0);
}
