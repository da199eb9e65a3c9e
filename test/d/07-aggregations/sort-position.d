#pragma D option aggsortpos=1
#pragma D option quiet

BEGIN
{
	@a[1] = sum(1);
	@b[1] = sum(20);
	@a[2] = sum(2);
	@b[2] = sum(10);
	printa("%d %@d %@d\n", @a, @b);
	exit(0);
}
