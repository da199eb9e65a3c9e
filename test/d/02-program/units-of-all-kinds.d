/* Declarations, inlines and clauses in any order; a later clause knows what stands before it. */
#pragma D option quiet
int a;
BEGIN { a = 1; }
inline int next = a + 1;
struct s { int x; };
BEGIN { v = next; }
struct s w;
self int t;
BEGIN
{
	w.x = v + 1;
	self->t = w.x + 1;
	printf("%d %d %d %d\n", a, v, w.x, self->t);
	exit(0);
}
