BEGIN
{
	freopen();
}
