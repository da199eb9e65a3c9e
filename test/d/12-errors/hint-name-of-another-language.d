BEGIN
{
	trace(comm);
	trace(nsecs - 1);
	@a = hist(3);
}
