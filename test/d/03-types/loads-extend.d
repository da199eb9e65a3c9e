/* What is narrower than a register is extended by its own sign when it is read. */
#pragma D option quiet
struct s { char c; short h; int i; unsigned char uc; unsigned short uh; unsigned int ui; } v;
int8_t g;
self uint16_t t;
BEGIN
{
	v.c = v.h = v.i = -2;
	v.uc = v.uh = v.ui = -2;
	g = 0x80;
	self->t = 0x18000;
	this->w = (short)0x8000;
	a[1] = (char)-3;
	printf("%d %d %d\n", (long)v.c, (long)v.h, (long)v.i);
	printf("%d %d %d\n", (long)v.uc, (long)v.uh, (long)v.ui);
	printf("%d %d %d %d\n", (long)g, (long)self->t, (long)this->w, (long)a[1]);
	exit(0);
}
