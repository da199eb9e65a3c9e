#pragma D option quiet

struct part { short s; string name; };
struct out { int v; char text[8]; struct part p; uint64_t big; };
struct out w;
int n;

translator struct part < int i > { s = i + 1; name = "part"; };
translator struct out < int i > {
	v = i;
	text = i > 5 ? "long enough" : "ab";
	p = xlate <struct part> (i);
	big = 1ULL << 40;
};

/* As a value, and as a pointer to memory of the clause; what is translated is evaluated once. */
BEGIN
{
	w = xlate <struct out> (n++);
	printf("%d %d [%s] %d %s %d\n", n, w.v, w.text, w.p.s, w.p.name, w.big >> 40);
	this->p = xlate <struct out *> (7);
	printf("%d [%s] %d %s\n", this->p->v, stringof(this->p->text), this->p->p.s, this->p->p.name);
	this->p->v++;
	printf("%d\n", this->p->v);
}

BEGIN
/xlate <struct out *> (1) != NULL/
{
	printf("a value\n");
	exit(0);
}
