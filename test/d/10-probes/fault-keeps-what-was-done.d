#pragma D option quiet

int z;

BEGIN
{
	g = 1;
	a[1] = 2;
	self->t = 3;
	@ = sum(4);
	b[1] = 5;
	b[1] = 0;
	printf("discarded\n");
	g = 1 / z;
	g = 7;
}
BEGIN
{
	printf("%d %d %d %d\n", g, a[1], self->t, b[1]);
	exit(0);
}
