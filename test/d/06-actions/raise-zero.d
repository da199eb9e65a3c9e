/* signal 0 is none */
BEGIN
{
	raise(0);
	trace("after");
	exit(0);
}
