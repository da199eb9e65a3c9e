#pragma D option quiet

struct p { int x, y; };
struct q { struct p v[2]; union { int i; char c[4]; } u; } g[1];

BEGIN
{
	g[0].v[0].x = 1;
	g[0].v[1].y = 2;
	print(&g[0]);
	exit(0);
}
