#pragma D option quiet

int v[3];
char n[8];

BEGIN
{
	v[0] = 1;
	v[1] = 2;
	v[2] = 3;
	n[0] = 'a';
	n[1] = 'b';
	n[3] = 'd';
	print(v);
	print(n);
	exit(0);
}
