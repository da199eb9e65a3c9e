#pragma D option quiet

char n[40];

BEGIN
{
	n[15] = 'p';
	n[16] = 'q';
	n[39] = 'z';
	tracemem(n, 16);
	tracemem(n, 17);
	tracemem(n, 40);
	tracemem(n, 1);
	exit(0);
}
