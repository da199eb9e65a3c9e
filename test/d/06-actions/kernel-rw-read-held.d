BEGIN
{
	trace(rw_read_held((void *)arg0));
	exit(0);
}
