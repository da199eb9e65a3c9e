tick-200us, tick-200000ns, tick-5000hz
{
	exit(0);
}
