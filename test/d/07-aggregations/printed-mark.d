#pragma D option quiet

BEGIN
{
	@a = count();
	@b = count();
	@b = count();
	printa(@a);
	exit(0);
}
