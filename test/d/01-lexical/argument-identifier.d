#pragma D option quiet

BEGIN
{
	apples = 7;
	printf("%d\n", $1);
	exit(0);
}
