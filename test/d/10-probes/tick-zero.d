profile:::tick-0
{
	exit(0);
}
