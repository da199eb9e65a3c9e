BEGIN
{
	x = libc``environ;
}
