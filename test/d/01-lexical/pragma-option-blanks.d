#pragma D option strsize = 5
#pragma D option strsize=
#pragma D option
BEGIN
{
	exit(0);
}
