/* speculate alone makes a line if it is committed; commit and discard alone make none. */
BEGIN
{
	sid = speculation();
}
BEGIN
{
	speculate(sid);
}
BEGIN
{
	speculate(sid);
	trace(7);
}
BEGIN
{
	discard(0);
}
END
{
	commit(sid);
}
BEGIN
{
	exit(0);
}
