#pragma D option quiet

int total;

BEGIN
{
	total = 5;
}
END
{
	printf("%d\n", total);
}
BEGIN
{
	total *= 3;
	exit(0);
}
