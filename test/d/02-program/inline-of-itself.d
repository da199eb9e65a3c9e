inline int x = x + 1;
BEGIN
{
	exit(0);
}
