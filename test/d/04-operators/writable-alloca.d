#pragma D option quiet
struct s { int a; char n[4]; } v;
BEGIN
{
	this->p = (struct s *)alloca(sizeof (struct s));
	this->p->a = 5;
	this->p->n[1] = 'x';
	this->q = (int *)this->p;
	*this->q += 2;
	this->q[0]++;
	v = *this->p;
	printf("%d %d %c\n", this->p->a, v.a, v.n[1]);
	exit(0);
}
