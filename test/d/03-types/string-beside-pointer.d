/* One side must be a string; the pointer's memory is read then. Two pointers are addresses. */
#pragma D option quiet
struct s { char a[8]; char b[8]; } v;
char *p, *q;
string s;
BEGIN
{
	v.a[0] = v.b[0] = 'x';
	p = v.a;
	q = v.b;
	s = "x";
	printf("%d %d %d\n", p == q, s == p, q == s);
	printf("%d %d %d\n", v.a == v.b, v.a == s, "w" < v.b);
	printf("%d %d\n", p == v.a, (uint64_t)q - (uint64_t)p);
	exit(0);
}
