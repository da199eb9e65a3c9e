#pragma D option quiet

#pragma D option aggsortkeypos=1
BEGIN
{
	@[1, 2] = sum(7);
	@[2, 1] = sum(7);
	@[3, 3] = sum(6);
	printa("%d%d ", @);
	exit(0);
}
