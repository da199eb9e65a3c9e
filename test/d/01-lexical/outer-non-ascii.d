BEGIN
{
	exit(0);
}
é
