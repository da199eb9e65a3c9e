BEGIN
{
	trace(zonename);
	exit(0);
}
