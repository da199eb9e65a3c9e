/* Every operator of assignment, on every kind of target; the value is the new one. */
#pragma D option quiet
struct s { char c; int b:4; } v;
int a[2];
BEGIN
{
	g = 10;
	printf("%d %d %d %d %d\n", g += 5, g -= 3, g *= 4, g /= 5, g %= 4);
	g = 12;
	printf("%d %d %d %d %d\n", g &= 10, g |= 3, g ^= 1, g <<= 4, g >>= 2);
	self->t = 1;
	self->t += 2;
	this->l = 3;
	this->l *= 5;
	m["k"] = 4;
	m["k"] <<= 2;
	a[1] -= 7;
	v.c = 100;
	printf("%d %d\n", v.c += 100, v.c);
	v.b = 7;
	v.b += 2;
	printf("%d %d %d %d %d\n", self->t, this->l, m["k"], a[1], v.b);
	exit(0);
}
