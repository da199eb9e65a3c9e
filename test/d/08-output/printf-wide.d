#pragma D option quiet
BEGIN
{
	printf("%70000d%70000s%.70000d", 1, "x", 2);
	exit(0);
}
