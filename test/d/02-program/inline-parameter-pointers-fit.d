#pragma D option quiet

struct one { int a; };
struct one *o;
inline int first[struct one *p] = p == NULL ? -1 : p->a;

BEGIN
{
	this->p = (struct one *)alloca(4);
	this->p->a = 5;
	printf("%d %d %d\n", first[this->p], first[o], first[NULL]);
	exit(0);
}
