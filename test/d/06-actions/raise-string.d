BEGIN
{
	raise("KILL");
}
