#pragma D option quiet
struct in { int a; char n[4]; };
struct out { struct in i[2]; struct in *p; } o, m[string];
self struct out t;
int grid[2][3], (*row)[3];
char *names[3];
BEGIN
{
	grid[1][2] = 7;
	row = &grid[1];
	printf("%d ", (*row)[2]);
	row--;
	printf("%d %d\n", (*row)[0], row[1][2]);
	o.i[1].n[0] = 'q';
	names[1] = o.i[1].n;
	printf("%c %d\n", names[1][0], names[2] == NULL);
	m["k"].i[1].a = 5;
	m["k"].i[1].a++;
	printf("%d %d\n", m["k"].i[1].a, m["x"].i[1].a);
	o.p = &o.i[1];
	o.p = o.p - 1;
	o.i[0].a = 9;
	printf("%d %d\n", o.p->a, (&o.i[1])[-1].a);
	o.i[1] = o.i[0];
	copy = o;
	copy.i[1].a = 3;
	self->t = copy;
	self->t.i[0].a = 77;
	printf("%d %d %d %d\n", o.i[1].a, copy.i[1].a, copy.i[0].a, self->t.i[0].a);
	exit(0);
}
