#pragma D option quiet
struct s { char n[4]; int i; } v;
string t;
BEGIN
{
	v.n[0] = 'a';
	v.n[1] = 'b';
	t = v.n;
	printf("%s %s %d %d\n", t, v.n, t == v.n, "b" > v.n);
	v.n[2] = 'c';
	v.n[3] = 'd';	/* no NUL: the array ends it */
	v.i = 0x41414141;
	u = v.n;
	printf("%s %d %s\n", v.n, strlen(v.n), strjoin(u, v.n));
	m[v.n] = 1;
	printf("%d %d %c\n", m["abcd"], m["ab"], u[1]);
	exit(0);
}
