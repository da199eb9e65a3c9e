#pragma D option quiet
struct s { char n[4]; int i; } v, w;
enum e { A = 1 } x;
int *p;
BEGIN
{
	v.n[0] = 'k';
	v.i = 3;
	p = (int *)v.n;
	w = (struct s)v;
	x = (enum e)1L;
	printf("%d %d %d\n", (uint64_t)p == (uint64_t)&v.n[0], w.i, x == A);
	printf("%s %s %s\n", (string)v.n, (string)(char *)p, (string)"s");
	printf("%d %d\n", *(int *)((char *)p + 4), ((struct s *)p)->i);
	printf("%d %d\n", (int)(char *)5, (void *)v.n == (void *)p);
	(void)v.i;
	(void)"x";
	exit(0);
}
