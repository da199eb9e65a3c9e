BEGIN
{
	trace(mutex_type_spin((void *)arg0));
	exit(0);
}
