BEGIN
{
	commit(1, 2);
}
