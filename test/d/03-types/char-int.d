char int x;
BEGIN
{
	exit(0);
}
