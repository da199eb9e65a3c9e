profile:::profile-5001
{
	exit(0);
}
