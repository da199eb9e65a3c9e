struct s { int size; } g;

BEGIN
{
	trace(g.sise);
}
