#pragma D option quiet
int a[4];
char m[2][3];
this int l[2];
self long t[3];
int i;
BEGIN
{
	a[0] = 1;
	a[i + 1] = 2;
	a[3]--;
	m[1][2] = 'x';
	this->l[1] = 7;
	self->t[2] = 8;
	self->t[i] = 9;
	printf("%d %d %d %d\n", a[0], a[1], a[2], a[3]);
	printf("%c %d %d %d %d\n", m[1][2], m[0][2], this->l[1], self->t[2], self->t[0]);
	printf("%d %d\n", *a, *(a + 1));
	printf("%d %d %d\n", sizeof (m), sizeof (m[0]), sizeof (self->t));
	exit(0);
}
