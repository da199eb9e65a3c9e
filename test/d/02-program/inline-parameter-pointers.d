/* A parameter that is a pointer takes pointers to the same, and none to others. */
#pragma D option quiet

struct one { int a; };
struct two { int b; };
struct one *o;
struct two *t;
inline int first[struct one *p] = p == NULL ? -1 : p->a;

BEGIN
{
	this->p = (struct one *)alloca(4);
	this->p->a = 5;
	printf("%d %d\n", first[this->p], first[o]);
	exit(0);
}

BEGIN
{
	trace(first[t]);
	trace(first[1]);
	trace(first["x"]);
}
