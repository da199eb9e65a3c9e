BEGIN
{
	trace(rw_write_held((void *)arg0));
	exit(0);
}
