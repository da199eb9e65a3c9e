BEGIN
{
	chill(1000);
	exit(0);
}
