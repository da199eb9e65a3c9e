BEGIN
{
	trace(link_ntop(1, 5));
}
