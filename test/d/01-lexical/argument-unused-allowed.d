#pragma D option argref
#pragma D option quiet

BEGIN
{
	printf("%d\n", $1);
	exit(0);
}
