#pragma D option quiet
struct s { char n[4]; } v;
string s;
char *p;
BEGIN
{
	v.n[0] = 'q';
	p = v.n;
	s = p;
	printf("%s ", s);
	s = v.n;
	printf("%s ", s);
	self->k[s] = 1;
	printf("%d %d\n", self->k[v.n], self->k[p]);
	p = s;
	printf("%s\n", stringof(p));
	exit(0);
}
