#pragma D option quiet

enum color { RED = -3, GREEN = 17 };
enum color c;

BEGIN
{
	c = GREEN;
	printf("%d %i %x %u|%4d|%d\n", c, c, c, c, c, RED);
	exit(0);
}
