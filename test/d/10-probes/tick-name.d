#pragma D option quiet

profile:::tick-1msec
{
	printf("%s|%s|%s\n", probeprov, probefunc, probename);
	exit(0);
}
