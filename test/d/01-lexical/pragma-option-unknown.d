#pragma D option nosuch
#pragma D option nosuch=5
#pragma D option strsize=five
BEGIN
{
	exit(0);
}
