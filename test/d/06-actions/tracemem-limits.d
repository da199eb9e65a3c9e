#pragma D option quiet

char n[4];
int m;

BEGIN
{
	n[0] = 'a';
	n[1] = 'b';
	m = 2;
	tracemem(n, 4, m - 1);
	tracemem(n, 4, m + 1);
	tracemem(n, 4, m + 2);
	tracemem(n, 4, m * 100);
	tracemem(n, 4, -m);
	exit(0);
}
