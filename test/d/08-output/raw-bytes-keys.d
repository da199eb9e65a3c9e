#pragma D option quiet

#pragma D option rawbytes
#pragma D option strsize=3
BEGIN
{
	@["ab"] = count();
	exit(0);
}
