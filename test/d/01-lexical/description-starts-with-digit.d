1x
{
	exit(0);
}
