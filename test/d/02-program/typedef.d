#pragma D option quiet
typedef struct point { int x, y; } point_t, *point_p;
typedef int vec_t[3];
typedef unsigned char byte;
point_t a;
struct point b;
vec_t v;
point_p p;
byte small;
BEGIN
{
	a.x = 3;
	a.y = 4;
	b = a;
	a.x = 5;
	v[2] = 9;
	small = 300;
	printf("%d %d %d %d %d %d\n", a.x, b.x, b.y, v[2], small, sizeof (v));
	p = NULL;
	printf("%d\n", p == 0);
	exit(0);
}
