#pragma D option quiet

BEGIN
{
	x = 1;
}
BEGIN
{
	x = x * 10 + 2;
}
BEGIN
{
	x = x * 10 + 3;
	printf("%d\n", x);
	exit(0);
}
