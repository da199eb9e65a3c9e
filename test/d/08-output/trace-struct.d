struct s { int a; char n[6]; short b; } g;
int v[2];
BEGIN
{
	g.a = 0x41424344;
	g.n[0] = 'h';
	g.b = -2;
	v[1] = 1;
	trace(g);
	trace(v);
	trace(g.n);
	trace(g.b);
	exit(0);
}
