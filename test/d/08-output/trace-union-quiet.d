#pragma D option quiet

union u { int i; char c[4]; } x;
struct s { short a; char b[3]; } y;
char n[3];

BEGIN
{
	x.i = 0x64636261;
	y.a = 1;
	n[0] = 'n';
	trace(x);
	trace(y);
	trace(n);
	exit(0);
}
