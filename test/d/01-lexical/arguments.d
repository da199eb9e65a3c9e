#pragma D option quiet

BEGIN
{
	printf("%d %s %s %d\n", $1, $$2, $$1, $3);
	exit(0);
}
