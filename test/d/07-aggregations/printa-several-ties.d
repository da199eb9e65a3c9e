#pragma D option quiet

BEGIN
{
	@a[1] = sum(5);
	@b[1] = sum(9);
	@a[2] = sum(5);
	@b[2] = sum(3);
	@a[0] = sum(5);
	@b[0] = sum(9);
	printa("%d %@d %@d\n", @a, @b);
	exit(0);
}
