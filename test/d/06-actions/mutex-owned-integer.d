BEGIN
{
	trace(mutex_owned(5));
}
