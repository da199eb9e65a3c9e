#pragma D option quiet

BEGIN
{
	printf("%s %d\n", $0, $0 == $$0);
	exit(0);
}
