BEGIN
{
	trace(node);
	exit(0);
}
