#pragma D option quiet
#define FIRST $1

BEGIN
{
	trace(FIRST);
	exit(0);
}
