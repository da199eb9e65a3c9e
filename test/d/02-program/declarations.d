#pragma D option quiet

int x, y;
self int s;
this string t;
uint8_t small;

BEGIN
{
	small = 300;
	this->t = "local";
	printf("%d %d %d %d %s\n", x, y, self->s, small, this->t);
	exit(0);
}
