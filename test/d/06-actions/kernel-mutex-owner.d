BEGIN
{
	trace(mutex_owner((void *)arg0));
	exit(0);
}
