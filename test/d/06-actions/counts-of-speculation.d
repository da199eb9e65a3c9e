BEGIN
{
	commit();
	discard();
	discard(1, 2);
}
BEGIN
{
	speculate(1, 2);
}
