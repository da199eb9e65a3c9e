BEGIN
{
	trace(link_ntop(7, alloca(20)));
}
BEGIN
{
	exit(0);
}
