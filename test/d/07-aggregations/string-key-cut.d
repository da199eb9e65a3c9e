#pragma D option strsize=4
#pragma D option quiet

BEGIN
{
	@["abcdef"] = count();
	@["abcdxx"] = count();
	exit(0);
}
