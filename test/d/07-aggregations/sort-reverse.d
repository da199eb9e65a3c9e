#pragma D option aggsortrev
#pragma D option quiet

BEGIN
{
	@one["a"] = sum(1);
	@one["b"] = sum(2);
	@two = count();
	exit(0);
}
