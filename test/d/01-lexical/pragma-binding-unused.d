#pragma D binding "1.0" nobody
BEGIN
{
	exit(0);
}
