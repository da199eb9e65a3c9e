/* The same type behind it, void on either side, or the constant 0. */
#pragma D option quiet
struct s { int a[3]; } v;
int *p;
void *vp;
const int *cp;
typedef int int_alias;
int_alias *tp;
BEGIN
{
	p = v.a;
	vp = p;
	cp = vp;
	tp = p;
	v.a[1] = 7;
	printf("%d %d %d\n", p[1], cp[1], *(tp + 1));
	vp = v.a;
	p = vp;
	p = 0;
	cp = NULL;
	printf("%d %d %d\n", p == NULL, vp == NULL, cp == 0);
	exit(0);
}
