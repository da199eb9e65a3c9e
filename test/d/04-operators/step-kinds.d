/* ++ and -- step integers by one, pointers by what they point to; the value is old or new. */
#pragma D option quiet
struct s { char c; unsigned b:2; } v;
int a[3], *p;
BEGIN
{
	v.c = 127;
	printf("%d %d %d\n", v.c++, v.c, --v.c);
	v.b = 3;
	v.b++;
	printf("%d\n", v.b);
	a[1] = 5;
	p = a;
	printf("%d %d %d\n", *++p, *p--, p == a);
	self->t++;
	self->t++;
	m[1]--;
	printf("%d %d %d %d\n", self->t--, self->t, m[1]++, m[1]);
	printf("%d %d\n", a[1]++ + ++a[1], a[1]);
	exit(0);
}
