#pragma D option quiet
struct s { int a; char n[4]; } v, w;
int *p, x;
string str;
BEGIN
{
	v.a = 1;
	w.a = 2;
	v.n[0] = 'v';
	x = 0;
	u = x ? v : w;
	printf("%d %d %d\n", u.a, (x ? v : w).a, sizeof (x ? (char)1 : 1L));
	p = x ? &v.a : &w.a;
	printf("%d %d\n", *p, (x ? p : NULL) == NULL);
	printf("%s %s\n", x ? "yes" : v.n, !x ? probename : "no");
	str = "before";
	this->c = !x ? str : "other";
	str = "after";
	printf("%s\n", this->c);
	printf("%d\n", (x ? 1 : (char)200) < 0);
	exit(0);
}
