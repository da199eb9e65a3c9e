#pragma D option quiet
/* structs of all classes are values; a thread-local or an element is 0 until stored to, and 0 frees it */
struct s { int n; char t[6]; long l; };
struct s g;
self struct s t;
struct s m[string, int];
BEGIN
{
	g.n = 1;
	this->c = g;
	this->c.n = 2;
	self->t = this->c;
	self->t.n += 10;
	m["a", 1] = self->t;
	m["a", 2].n++;
	printf("%d %d %d %d %d\n", g.n, this->c.n, self->t.n, m["a", 1].n, m["a", 2].n);
	printf("%d %d\n", m["b", 1].n, m["b", 1].l);
	self->t = 0;
	m["a", 1] = 0;
	printf("%d %d %d\n", self->t.n, m["a", 1].n, m["a", 2].n);
}
BEGIN
{
	new = g;
	new.l = -5;
	printf("%d %d %d\n", new.n, new.l, this->c.n);
	exit(0);
}
