#pragma D option quiet

#pragma D option droptags
int z;

ERROR
{
	trace(1 / z);
}
ERROR
{
	printf("%d ", arg1);
}
BEGIN
{
	trace(1 / z);
}
BEGIN
{
	trace(1 / z);
}
BEGIN
{
	exit(0);
}
