#pragma D option quiet


/* A parameter hides a variable of its name in the inline, and nowhere else. */
int x;
inline int add[int x] = x + 1;

BEGIN
{
	x = 10;
	printf("%d %d %d\n", add[1], x, add[x]);
	exit(0);
}
