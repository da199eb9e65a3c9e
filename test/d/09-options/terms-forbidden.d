#pragma D option terms=on
BEGIN
{
	exit(0);
}
