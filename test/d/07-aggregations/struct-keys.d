#pragma D option quiet
/* structs are keys by their bytes; those that read as text are shown so */
struct s { char n[4]; } k;
struct t { int a, b; } m;
BEGIN
{
	k.n[0] = 'a';
	@a[k] = count();
	k.n[1] = 'b';
	@a[k] = count();
	@a[k] = count();
	e[k] = 7;
	this->c = k;
	printf("%d\n", e[this->c]);
	k.n[1] = 0;
	printf("%d\n", e[k]);
	m.b = 2;
	@b[m, "x"] = sum(3);
	printa(@a);
	printa(@b);
	exit(0);
}
