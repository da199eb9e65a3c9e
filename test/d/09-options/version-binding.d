#pragma D option quiet
#pragma D option version=1.2
#pragma D binding "1.1" old
#pragma D binding "1.3" newer
int old;
int newer;

BEGIN
{
	old = 1;
	newer = "a string: the declaration is hidden";
	printf("%d %s\n", old, newer);
	exit(0);
}
