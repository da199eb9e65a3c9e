/* Of two types with the same bits the unsigned one wins; a wider signed one wins over a narrower unsigned one. */
#pragma D option quiet
char c; unsigned char uc;
short h; unsigned short uh;
int i; unsigned int ui;
long l; unsigned long ul;
BEGIN
{
	c = h = i = l = -1;
	uc = uh = ui = ul = 1;
	printf("%d%d%d%d\n", c < uc, h < uh, i < ui, l < ul);
	printf("%d%d%d\n", h < uc, i < uh, l < ui);
	printf("%d%d%d\n", c < uh, h < ui, i < ul);
	printf("%d%d\n", (c + uc) < 1, (i * ui) < 0);
	exit(0);
}
