#pragma D option quiet
typedef struct node { int v; struct node *next; } node_t;
typedef node_t list_t[3];
typedef int (*fn_t)(int), row_t[4];
typedef row_t grid_t[2];
list_t l;
grid_t g;
fn_t f;

BEGIN
{
	l[2].v = 5;
	l[1].next = &l[2];
	g[1][3] = 6;
	printf("%d %d %d %d %d %d\n", l[1].next->v, g[1][3], sizeof (list_t), sizeof (grid_t), sizeof (f), sizeof (node_t));
	exit(0);
}
