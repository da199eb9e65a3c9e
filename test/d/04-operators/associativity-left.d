#pragma D option quiet
int a, b, c;
BEGIN
{
	a = 100;
	b = 10;
	c = 5;
	printf("%d %d %d\n", a / b / c, a - b - c, a % 7 * 2);
	printf("%d %d\n", a >> 2 << 1, 3 > 2 > 1);
	printf("%d %d\n", c == c == 1, 2 * 7 % 4);
	printf("%d %d\n", (1, 2, 3), 7 - 2 + 1);
	exit(0);
}
