BEGIN
{
	freopen(1);
}
