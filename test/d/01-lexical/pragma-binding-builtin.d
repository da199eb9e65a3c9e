#pragma D binding "1.0" pid
BEGIN
{
	exit(0);
}
