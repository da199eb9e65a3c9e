#pragma D option quiet

int z;

ERROR
{
	printf("a");
}
ERROR
/arg4 == 1/
{
	printf("never");
}
ERROR
/arg4 == 4/
{
	printf("b");
}
BEGIN
{
	trace(1 / z);
}
BEGIN
{
	exit(0);
}
