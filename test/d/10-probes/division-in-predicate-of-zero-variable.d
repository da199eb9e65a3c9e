#pragma D option quiet

int z;

BEGIN
/z != 0 && 10 / z > 1/
{
	printf("no\n");
}
BEGIN
{
	printf("no fault\n");
	exit(0);
}
