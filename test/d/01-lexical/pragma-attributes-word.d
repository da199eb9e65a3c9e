#pragma D attributes Stable/Solid/Common x
BEGIN
{
	exit(0);
}
