BEGIN
{
	trace(mutex_owned((void *)arg0));
	exit(0);
}
