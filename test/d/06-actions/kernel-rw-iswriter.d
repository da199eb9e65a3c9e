BEGIN
{
	trace(rw_iswriter((void *)arg0));
	exit(0);
}
