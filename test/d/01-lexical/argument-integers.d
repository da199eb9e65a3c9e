#pragma D option quiet

BEGIN
{
	printf("%d %d %d %d\n", $1, $2, $3, $4);
	printf("%u %d %d\n", $5, $6, $7);
	exit(0);
}
