struct s { int a; } g;

BEGIN
{
	(1)();
	g.a();
	self->f();
}
