BEGIN
{
	raise(SIGINT);
}

END
{
	trace("end");
}
