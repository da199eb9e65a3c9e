/* the process at the probe is erltrace itself: an interrupt ends the trace, END runs */
BEGIN
{
	trace("before");
	raise(2);
}

END
{
	trace("end");
}
