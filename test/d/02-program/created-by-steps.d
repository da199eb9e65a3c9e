#pragma D option quiet
BEGIN
{
	a++;
	b--;
	++c;
	--d;
	self->e++;
	this->f--;
	g["k"]++;
	--self->h[1];
	printf("%d %d %d %d %d %d %d\n", a, b, c, d, self->e, g["k"], self->h[1]);
	printf("%d %d %d %d\n", sizeof (a), sizeof (self->e), sizeof (g["k"]), sizeof (this->f));
	exit(0);
}
