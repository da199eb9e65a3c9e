BEGIN
{
	exit(0);
}
#error no more
