#pragma D option quiet

struct b { unsigned int lo : 3, hi : 5; int neg : 4; } g[1];

BEGIN
{
	g[0].lo = 5;
	g[0].hi = 17;
	g[0].neg = -2;
	print(&g[0]);
	exit(0);
}
