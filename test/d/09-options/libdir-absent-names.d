BEGIN
{
	trace(USER + IO_NEEDED);
}
