#pragma D option quiet

int z;

BEGIN, END, ERROR
{
	printf("%s|%s|%s|%s|%d\n", probeprov, probemod, probefunc, probename, id);
}
BEGIN
{
	trace(1 / z);
}
BEGIN
{
	exit(0);
}
