#pragma D option quiet

#pragma D option aggsortkey
#pragma D option aggsortkeypos=2
BEGIN
{
	@[1, 2] = sum(0);
	@[2, 1] = sum(0);
	printa("%d%d ", @);
	exit(0);
}
