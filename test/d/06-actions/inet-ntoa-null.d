BEGIN
{
	trace(inet_ntoa((uint32_t *)0));
}
BEGIN
{
	exit(0);
}
