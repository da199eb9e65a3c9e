BEGIN
{
	trace(d_path(5));
}
