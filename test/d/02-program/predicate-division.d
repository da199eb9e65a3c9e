#pragma D option quiet

BEGIN
{
	x = 8;
}

BEGIN
/x / 4 == 2/
{
	printf("%d\n", x / 2);
	exit(0);
}
