profile:::profile-5x
{
	exit(0);
}
