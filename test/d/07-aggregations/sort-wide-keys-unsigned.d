#pragma D option quiet

#pragma D option aggsortkey
BEGIN
{
	@[-1L] = sum(0);
	@[1L] = sum(0);
	printa("%d ", @);
	exit(0);
}
