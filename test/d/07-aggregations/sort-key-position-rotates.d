#pragma D option quiet

#pragma D option aggsortkey
#pragma D option aggsortkeypos=1
BEGIN
{
	@[2, 1, 1] = sum(0);
	@[1, 1, 2] = sum(0);
	@[1, 1, 1] = sum(0);
	@[9, 0, 9] = sum(0);
	printa("%d%d%d ", @);
	exit(0);
}
