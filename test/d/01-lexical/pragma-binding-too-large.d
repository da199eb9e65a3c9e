#pragma D binding "256.0" x
BEGIN
{
	exit(0);
}
