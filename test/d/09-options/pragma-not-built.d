#pragma D option cpu=4
BEGIN
{
	exit(0);
}
