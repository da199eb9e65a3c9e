/* The first eight bytes are shown, then three dots. */
#pragma D option quiet
#pragma D option printsize=8
struct s { int a; int b; int c; int d; } *p;
BEGIN
{
	p = alloca(sizeof (struct s));
	p->a = 1;
	p->b = 2;
	p->c = 3;
	p->d = 4;
	print(p);
	exit(0);
}
