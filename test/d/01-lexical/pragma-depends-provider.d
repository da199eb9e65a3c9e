#pragma D depends_on provider fbt
BEGIN
{
	exit(0);
}
