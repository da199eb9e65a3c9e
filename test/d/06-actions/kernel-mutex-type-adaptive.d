BEGIN
{
	trace(mutex_type_adaptive((void *)arg0));
	exit(0);
}
