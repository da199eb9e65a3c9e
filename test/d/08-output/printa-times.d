#pragma D option quiet
BEGIN
{
	@["a"] = max(1000000000 * 86400);
	printa("%s %@Y|%@T|%30@Y|\n", @);
	exit(0);
}
