#pragma D option quiet
BEGIN
{
	a[1, 2, 3, 4, 5, 6, 7, 8, 9] = 1;
	self->a[1, 2, 3, 4, 5, 6, 7, 8, 9] = 2;
	@c[1, 2, 3, 4, 5, 6, 7, 8, 9] = sum(3);
	printf("%d %d\n", a[1, 2, 3, 4, 5, 6, 7, 8, 9], self->a[1, 2, 3, 4, 5, 6, 7, 8, 9]);
	printa("%d%d%d%d%d%d%d%d%d %@d\n", @c);
	trunc(@c);
	exit(0);
}
