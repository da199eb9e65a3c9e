BEGIN
{
	x = 1;
	trace(fds[x].fi_pathname);
}
