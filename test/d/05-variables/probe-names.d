#pragma D option quiet

BEGIN, END
{
	printf("%s|%s|%s|%s|%d\n", probeprov, probemod, probefunc, probename, id);
}
BEGIN
{
	exit(0);
}
