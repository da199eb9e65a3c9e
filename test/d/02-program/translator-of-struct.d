#pragma D option quiet

struct point { int x, y; };
struct area { long cells; };
translator struct area < struct point p > { cells = p.x * p.y; };
struct point corner;

BEGIN
{
	corner.x = 6;
	corner.y = 7;
	printf("%d\n", xlate <struct area> (corner).cells);
	exit(0);
}
