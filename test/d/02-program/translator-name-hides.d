/* The input's name hides a variable of that name. */
#pragma D option quiet

int x;
struct out { int v; };
translator struct out < int x > { v = x; };

BEGIN
{
	x = 1;
	printf("%d\n", xlate <struct out> (2).v);
	exit(0);
}
