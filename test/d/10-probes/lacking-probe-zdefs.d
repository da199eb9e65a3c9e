/* -Z goes on without what is lacking */
erlang*:::driver-init,
erlang*:::user_trace-n0
{
	trace("never");
}
BEGIN
{
	trace("goes on");
	exit(0);
}
