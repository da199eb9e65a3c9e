/* The elements of an associative array may be arrays. */
#pragma D option quiet
int a[int][4];
self int b[string, int][2][3];
BEGIN
{
	i = 3;
	a[1][2] = 3;
	a[1][i] = 4;
	a[2][0]++;
	self->b["x", 1][1][2] = 7;
	printf("%d %d %d %d %d", a[1][2], a[1][3], a[2][0], a[5][1], self->b["x", 1][1][2]);
	a[1] = 0;
	printf(" %d %d\n", a[1][2], sizeof (a[1]));
	exit(0);
}
