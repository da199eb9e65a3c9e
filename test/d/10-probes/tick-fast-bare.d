profile:::tick-5001
{
	exit(0);
}
