#pragma D option quiet

int v[3];
char c[2];
unsigned char u[1];
long l[1];

BEGIN
{
	v[1] = -7;
	c[0] = 'x';
	u[0] = 200;
	l[0] = 1L << 33;
	print(&v[1]);
	print(&v[0]);
	print(&c[0]);
	print(&u[0]);
	print(&l[0]);
	exit(0);
}
