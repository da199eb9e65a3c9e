#pragma D option quiet

int z;

ERROR
{
	printf("%s %d %d %d %d %d\n", probename, arg0, arg1, arg2, arg4, arg5);
}
BEGIN
{
	trace(1);
	z = 1 / z;
}
BEGIN
{
	exit(0);
}
