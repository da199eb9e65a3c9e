/* Operands are integers, enums and pointers; results are the ints 0 and 1. */
#pragma D option quiet
enum e { NONE, SOME = 5 } v;
int *p, x;
long big;
int a[2];
BEGIN
{
	v = SOME;
	p = a;
	big = 0x100000000;
	printf("%d%d%d%d\n", v && p, p || x, v ^^ p, !p);
	printf("%d%d%d%d\n", x && p, x || NONE, x ^^ p, !x);
	printf("%d%d%d\n", big && 1, !big, big ^^ 0);
	printf("%d %d %d %d\n", sizeof (big && big), sizeof (!big), sizeof (big ^^ big), sizeof (big || p));
	printf("%d %d\n", (v && p) + 1, p ? 3 : 4);
	exit(0);
}
