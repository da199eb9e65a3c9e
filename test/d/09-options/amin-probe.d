BEGIN, tick-1s
{
	exit(0);
}
