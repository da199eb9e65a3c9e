#pragma D option quiet
int x;
self string x;
this char x[4];
struct x { int x; };
struct x y[2];
BEGIN
{
	x = 1;
	self->x = "two";
	this->x[1] = 3;
	y[1].x = 4;
	@x[x] = sum(5);
	printf("%d %s %d %d\n", x, self->x, this->x[1], y[1].x);
	printa("%d %@d\n", @x);
	trunc(@x);
	exit(0);
}
