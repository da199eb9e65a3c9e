x;
BEGIN
{
	exit(0);
}
