#pragma D option quiet
int g, *gp, ga[4], gm[2][3], gs[string, int];
self int t, ta[2], ts[int];
this int c, ca[3];
this string cs;
string s;
unsigned char uc;
int (*fp)(int, char *);
char *words[3];
int (*rows)[5];

BEGIN
{
	ga[3] = 1;
	gm[1][2] = 2;
	gs["k", 1] = 3;
	self->ta[1] = 4;
	self->ts[-5] = 5;
	this->ca[2] = 6;
	this->cs = "seven";
	uc = 264;
	printf("%d %d %d %d %d %d %s %d\n", ga[3], gm[1][2], gs["k", 1], self->ta[1], self->ts[-5], this->ca[2],
	    this->cs, uc);
	printf("%d %d %d %d %d %d %d\n", sizeof (ga), sizeof (gm), sizeof (self->ta), sizeof (this->ca), sizeof (fp),
	    sizeof (words), sizeof (*rows));
	exit(0);
}
