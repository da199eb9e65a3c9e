/* The status is 0, or that of exit() in END. */
BEGIN
{
	raise(2);
}
END
{
	exit(3);
}
