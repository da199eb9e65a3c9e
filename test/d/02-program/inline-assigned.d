/* An inline of a writable variable is assignable, one of anything else is not. */
#pragma D option quiet
int x;
int m[int];
struct s { int a; } v;
inline int y = x;
inline int first = m[1];
inline int member = v.a;
BEGIN
{
	y = 5;
	y++;
	first = 7;
	first *= 2;
	member = 8;
	printf("%d %d %d\n", x, m[1], v.a);
	exit(0);
}
