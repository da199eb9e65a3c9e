#pragma D option quiet

enum color { RED = 1, BLUE };
struct in { int x, y; };
struct s {
	int a, zero;
	char c;
	char n[6];
	enum color col;
	int *p;
	struct in i;
	int v[2];
	long l;
};
struct s *p;

BEGIN
{
	p = (struct s *)alloca(sizeof (struct s));
	p->a = -5;
	p->zero = 0;
	p->c = 'x';
	p->n[0] = 'h';
	p->n[1] = 'i';
	p->n[2] = 0;
	p->col = BLUE;
	p->p = (int *)0x10;
	p->i.x = 0;
	p->i.y = 7;
	p->v[0] = 1;
	p->v[1] = 2;
	p->l = 1L << 40;
	print(p);
	exit(0);
}
