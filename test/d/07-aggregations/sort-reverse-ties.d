#pragma D option quiet

#pragma D option aggsortrev
BEGIN
{
	@[1] = sum(5);
	@[2] = sum(5);
	@[3] = sum(9);
	printa("%d ", @);
	exit(0);
}
