BEGIN
{
	trace(1); /* never closed
	exit(0);
}
