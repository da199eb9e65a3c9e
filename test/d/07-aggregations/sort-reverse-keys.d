#pragma D option quiet

#pragma D option aggsortkey
#pragma D option aggsortrev
BEGIN
{
	@["a"] = sum(9);
	@["c"] = sum(5);
	@["b"] = sum(7);
	printa("%s ", @);
	exit(0);
}
