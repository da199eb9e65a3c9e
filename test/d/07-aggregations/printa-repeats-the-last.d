#pragma D option quiet

BEGIN
{
	@a[1] = sum(4);
	@b[1] = sum(5);
	printa("%d %@d %@d %@d\n", @a, @b);
	exit(0);
}
