profile:::tick-5001hz
{
	exit(0);
}
