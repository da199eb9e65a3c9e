BEGIN
{
	ustack();
	exit(0);
}
