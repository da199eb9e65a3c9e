/* A variable has the type of what is first assigned to it. */
#pragma D option quiet
struct s { int a; char b; } v;
uint8_t u8;
int *p;

BEGIN
{
	a = u8;
	b = 'x';
	c = 1L;
	d = v;
	e = p;
	f = "text";
	g = probename;
	self->h = (short)1;
	this->i = 1ULL;
	h = (char)1;
	printf("%d %d %d %d %d %d %d %d %d %d\n", sizeof (a), sizeof (b), sizeof (c), sizeof (d), sizeof (e), sizeof (f),
	    sizeof (g), sizeof (self->h), sizeof (this->i), sizeof (h));
	a = 300;
	d.a = 5;
	printf("%d %d %d\n", a, d.a, v.a);
	exit(0);
}
