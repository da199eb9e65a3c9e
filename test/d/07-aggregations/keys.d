#pragma D option quiet

BEGIN
{
	@[(long)-1, -5, (short)-1, (char)-1, "k"] = sum(7);
	exit(0);
}
