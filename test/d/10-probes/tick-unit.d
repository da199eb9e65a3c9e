profile:::tick-5fortnights
{
	exit(0);
}
