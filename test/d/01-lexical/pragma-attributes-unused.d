#pragma D attributes Stable/Stable/Common nobody
BEGIN
{
	exit(0);
}
