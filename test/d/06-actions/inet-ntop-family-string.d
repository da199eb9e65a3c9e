BEGIN
{
	trace(inet_ntop("inet", alloca(4)));
}
