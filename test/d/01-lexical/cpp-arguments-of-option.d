#pragma D option quiet

BEGIN
{
	trace(FIRST + SECOND);
	exit(0);
}
