#pragma D option quiet
enum color { RED, GREEN = 5, BLUE, NONE = -1 };
enum color c;
int a[BLUE];
BEGIN
{
	c = BLUE;
	printf("%d %d %d %d %d\n", RED, GREEN, BLUE, NONE, c);
	printf("%d %d\n", sizeof (c), sizeof (a));
	printf("%s\n", c == BLUE ? "blue" : "other");
	c = 77;
	printf("%d\n", c + RED);
	exit(0);
}
