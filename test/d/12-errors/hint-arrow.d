struct s { int size; } g;
struct s *p;

BEGIN
{
	trace(g->size);
	trace(p.size);
}
