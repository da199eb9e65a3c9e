#pragma D option quiet

int base;
struct out { int v; };
translator struct out < int i > { v = base + i; };

BEGIN
{
	base = 100;
	printf("%d\n", xlate <struct out> (1).v);
	base = 200;
	printf("%d\n", xlate <struct out> (1).v);
	exit(0);
}
