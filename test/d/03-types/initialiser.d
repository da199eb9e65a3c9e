int x = 0;
BEGIN
{
	exit(0);
}
