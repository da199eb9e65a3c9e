BEGIN
{
	jstack();
	exit(0);
}
