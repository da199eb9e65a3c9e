#pragma D option quiet
#pragma D option aggrows=2

/* What is cut is the row, and not one aggregation of it. */
BEGIN
{
	@a[1] = sum(1);
	@b[1] = sum(30);
	@a[2] = sum(2);
	@b[2] = sum(20);
	@a[3] = sum(3);
	@b[3] = sum(10);
	printa("%d=%@d,%@d ", @a, @b);
	setopt("aggsortrev");
	printa("%d=%@d,%@d ", @a, @b);
	setopt("aggsortpos", "1");
	printa("%d=%@d,%@d ", @a, @b);
	setopt("aggrows", "1");
	printa("%d=%@d,%@d\n", @a, @b);
	printa(@a);
	exit(0);
}
