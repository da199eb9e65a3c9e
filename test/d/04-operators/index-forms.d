#pragma D option quiet
int a[3], m[2][2], *p;
string s;
struct t { int n[2]; } v[2];
BEGIN
{
	a[1] = 1;
	m[1][0] = 2;
	v[1].n[1] = 3;
	p = a;
	s = "xyz";
	k["x", 1] = 4;
	printf("%d %d %d %d %c %d\n", a[1], m[1][0], v[1].n[1], p[1], s[2], k["x", 1]);
	printf("%d %d %d\n", *(a + 1), *m[1], (p + 2)[-1]);
	printf("%c %c\n", "abc"[1], probename[0]);
	exit(0);
}
