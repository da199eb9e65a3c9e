#pragma D option quiet
int i[8];
int n;
BEGIN
{
	i[0] = 0x2078754c;
	i[4] = 1;
	tracemem(&i[0], 18);
	tracemem(i, 8, n);
	n = 3;
	tracemem(i, 8, n);
	n = 8;
	tracemem(i, 8, n);
	n = -1;
	tracemem(i, 4, n);
	exit(0);
}
