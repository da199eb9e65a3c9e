#pragma D nonsense
BEGIN
{
	exit(0);
}
