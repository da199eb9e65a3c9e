#pragma D option quiet

#pragma D option aggsortrev
#pragma D option aggsortpos=1
BEGIN
{
	@a[1] = sum(1);
	@b[1] = sum(20);
	@a[2] = sum(2);
	@b[2] = sum(10);
	printa("%d ", @a, @b);
	exit(0);
}
