#pragma D option quiet
char c;
signed char s;
unsigned char u;
BEGIN
{
	c = s = u = 200;
	printf("%d %d %d\n", c, s, u);
	printf("%d %d %d\n", c < 0, s < 0, u < 0);
	exit(0);
}
