#pragma D option quiet

struct point { int x; long y; };
struct size { int w; char h; };
translator struct size < struct point *p > {
	w = p->x + 1;
	h = p->y;
};
struct point v;

BEGIN
{
	this->p = (struct point *)alloca(sizeof (struct point));
	this->p->x = 41;
	this->p->y = 0x123;
	printf("%d %d\n", xlate <struct size *> (this->p)->w, xlate <struct size> (this->p).h);
	exit(0);
}
