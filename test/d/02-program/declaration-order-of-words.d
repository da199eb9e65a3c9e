#pragma D option quiet
long unsigned int long a;
int short b;
int unsigned c;
char signed d;
unsigned short int e;
long int f;

BEGIN
{
	a = b = c = d = e = f = -1;
	printf("%d %d %d %d %d %d\n", sizeof (a), sizeof (b), sizeof (c), sizeof (d), sizeof (e), sizeof (f));
	printf("%d %d %d %d %d %d\n", a, b, c, d, e, f);
	exit(0);
}
