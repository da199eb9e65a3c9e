#pragma D attributes Stable/Stable x
BEGIN
{
	exit(0);
}
