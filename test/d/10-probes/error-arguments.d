#pragma D option quiet

int z;

ERROR
{
	printf("%d %d %d %d %d %d\n", arg0, arg1, arg2, arg3 >= 0, arg4, arg5);
}
BEGIN
/1 / z/
{
}
BEGIN
{
	x = 1;
	y = 1;
	z = 1 / z;
}
BEGIN
{
	trace(copyinstr(0x20));
}
BEGIN
{
	exit(0);
}
