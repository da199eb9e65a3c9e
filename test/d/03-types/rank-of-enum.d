#pragma D option quiet
enum e { NEG = -1, ONE = 1 } v;
unsigned char uc;
unsigned int ui;
BEGIN
{
	v = NEG;
	uc = 1;
	ui = 1;
	printf("%d %d %d\n", v < uc, v < ui, sizeof (v + uc));
	printf("%d %d %d\n", v + ONE, v * 3, -v);
	exit(0);
}
