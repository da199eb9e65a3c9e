BEGIN
{
	trace(inet_ntoa(5));
}
