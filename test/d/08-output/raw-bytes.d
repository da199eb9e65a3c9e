#pragma D option rawbytes
#pragma D option quiet
BEGIN
{
	trace(0x41424344);
	exit(0);
}
