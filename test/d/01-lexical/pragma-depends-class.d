#pragma D depends_on thing x
BEGIN
{
	exit(0);
}
