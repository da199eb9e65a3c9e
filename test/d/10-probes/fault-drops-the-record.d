#pragma D option quiet

int z;

BEGIN
{
	printf("never seen\n");
	x = 5;
	y = 1 / z;
	x = 6;
}
BEGIN
{
	printf("%d\n", x);
	exit(0);
}
