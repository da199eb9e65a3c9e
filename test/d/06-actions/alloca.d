#pragma D option quiet
struct s { int a; char n[4]; };
ERROR { printf("%d\n", arg4); }
BEGIN
{
	this->p = (struct s *)alloca(sizeof (struct s));
	this->p->a = 5;
	this->p->n[0] = 'x';
	this->p->n[1] = 0;
	this->q = (char *)alloca(6);
	bcopy("hello", this->q, 6);
	*this->q = 'j';
	this->q[4]--;
	printf("%d %s %s\n", this->p->a, this->p->n, stringof(this->q));
	printf("%d\n", (uint64_t)this->q & 7);
	this->v = *this->p;
	this->p->a++;
	printf("%d %d\n", this->v.a, this->p->a);
}
BEGIN { this->n = 256; this->all = alloca(this->n); printf("all\n"); }
BEGIN { this->n = 257; this->all = alloca(this->n); printf("more\n"); }
BEGIN { this->a = (int *)alloca(200); this->b = (int *)alloca(57); }
BEGIN { this->n = -1; bcopy("hello", alloca(8), this->n); }
BEGIN { this->i = (int *)((char *)alloca(8) + 2); *this->i = 1; }
BEGIN { this->i = (int *)alloca(8); this->i += 2; *this->i = 1; }
BEGIN { exit(0); }
