#pragma D option quiet
#pragma D option amin=Evolving/Evolving/Common

BEGIN, tick-1s
{
	trace(timestamp > 0);
	exit(0);
}
