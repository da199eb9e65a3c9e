BEGIN \
{
	exit(0);
}
