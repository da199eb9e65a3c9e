#pragma D option quiet

char n[9];

BEGIN
{
	n[0] = 0x1f;
	n[1] = ' ';
	n[2] = '~';
	n[3] = 0x7f;
	n[4] = 0x80;
	n[5] = 0xff;
	n[6] = '\n';
	n[7] = 'a';
	trace(n);
	exit(0);
}
