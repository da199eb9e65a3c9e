/* Postfix operators bind tighter than unary ones. */
#pragma D option quiet
int a[3], *p, x;
struct s { int n; int m[2]; } v;
BEGIN
{
	a[0] = 5;
	a[1] = 7;
	v.n = 0;
	v.m[1] = 9;
	p = a;
	x = 3;
	printf("%d %d %d\n", -a[0], !v.n, sizeof a[0]);
	printf("%d %d\n", *p++, p - a);
	printf("%d %d %d\n", -x++, x, *&v.m[1]);
	exit(0);
}
