#pragma D option quiet

int n;

BEGIN
{
	n = 41;
	exit(n + 1);
}
