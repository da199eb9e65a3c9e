#pragma D option quiet

#pragma D option rawbytes
#pragma D option strsize=7
BEGIN
{
	trace("abc");
	trace(1L);
	trace((short)-2);
	exit(0);
}
