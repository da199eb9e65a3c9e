#pragma D option quiet

ERROR
{
	printf("%d %x\n", arg4, arg5);
}
BEGIN
{
	trace(copyinstr(0x10));
}
BEGIN
{
	exit(0);
}
