#pragma D option quiet

/* Text, a NUL and more is no text; nor is nothing at all. */
struct s { char n[4]; } k;

BEGIN
{
	k.n[0] = 'a';
	k.n[2] = 'b';
	@a[k] = count();
	k.n[0] = 0;
	k.n[2] = 0;
	@b[k] = count();
	k.n[0] = '\t';
	k.n[1] = ' ';
	k.n[2] = 'c';
	k.n[3] = 'd';
	@c[k] = count();
	exit(0);
}
