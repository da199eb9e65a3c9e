#pragma D option quiet

BEGIN
{
	@["a"] = sum(1);
	@["b"] = sum(2);
	@z = count();
	setopt("aggsortrev");
	exit(0);
}
