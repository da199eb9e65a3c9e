#pragma D option strsize = 8
BEGIN
{
	exit(0);
}
