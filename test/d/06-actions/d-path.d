BEGIN
{
	trace(d_path((void *)arg0));
	exit(0);
}
