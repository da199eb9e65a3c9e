BEGIN
{
	trace(ipl);
	exit(0);
}
